// The page of worker-guest.js. It passes calls on. Errors that escape in the worker escape here, too, where the test
// sees them.
const worker = new Worker("worker-guest.js", { type: "module" });

const replies = [];
worker.addEventListener("message", ({ data }) => {
  if ("escaped" in data) reportError(new Error(`escaped in the worker: ${data.escaped}`));
  else replies.shift()(data);
});

// The worker itself reports errors that escape, unless it fails to load. If no call waits then, this rejection escapes.
const broken = new Promise((_, reject) => {
  worker.addEventListener("error", (event) => {
    reject(new Error(`the worker does not load: ${event.message ?? "a file of it is missing"}`));
  });
});

const call =
  (name) =>
  async (...args) => {
    const reply = new Promise((resolve) => {
      replies.push(resolve);
    });
    worker.postMessage({ name, args });
    const { value, error } = await Promise.race([reply, broken]);
    if (error !== undefined) throw new Error(`in the worker: ${error}`);
    return value;
  };

globalThis.inWorker = { items: call("items"), fails: call("fails"), letEscape: call("letEscape") };
