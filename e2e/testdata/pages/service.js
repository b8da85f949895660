// The page of service-worker.js.
globalThis.service = {
  async run() {
    await navigator.serviceWorker.register("service-worker.js", { type: "module" });
    const { active } = await navigator.serviceWorker.ready;
    const { port1, port2 } = new MessageChannel();
    const reply = new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
    });
    active.postMessage("run", [port2]);
    const { value, error } = await reply;
    if (error !== undefined) throw new Error(`in the service worker: ${error}`);
    return value;
  },
};
