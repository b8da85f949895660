// Runs a worker and returns what it sends.
const fromWorker = (url, options) =>
  new Promise((resolve, reject) => {
    const worker = new Worker(url, options);
    worker.onmessage = ({ data }) => {
      data.error === undefined ? resolve(data.results) : reject(new Error(data.error));
    };
    worker.onerror = (event) => {
      reject(new Error(`the worker does not load: ${event.message}`));
    };
  });

globalThis.proposals = {
  run: () => proposalsRun(fiberfill),
  classicWorker: () => fromWorker("proposals-worker.js"),
  moduleWorker: () => fromWorker("proposals-worker-module.js", { type: "module" }),
  // The error that instantiating a guest rejects with.
  fails: () =>
    proposalsRun(fiberfill).then(
      () => "nothing",
      ({ code, message }) => `${code}: ${message}`,
    ),
};
