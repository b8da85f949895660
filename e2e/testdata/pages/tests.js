// Tests of jsglue that Node runs, in a browser. /plan/plan.json says which.

// What Node has as globals, as far as tests use it.
{
  // One channel for all: in WebKit another process makes them.
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.shift()();
  globalThis.setImmediate = (fn, ...args) => {
    waiting.push(() => fn(...args));
    port2.postMessage(0);
  };
}
{
  let listeners = [];
  addEventListener("unhandledrejection", (event) => {
    if (listeners.length > 0) event.preventDefault();
    for (const listener of listeners) listener(event.reason);
  });
  globalThis.process = {
    versions: {},
    env: {},
    listeners: () => listeners.slice(),
    removeAllListeners: () => void (listeners = []),
    on: (_, listener) => void listeners.push(listener),
  };
}

globalThis.tests = {
  /** Resolves to how many tests have passed, how many were left out, and what each of the others has thrown. */
  async run() {
    const { file, leftOut, hideJSPI, env } = await (await fetch("/plan/plan.json")).json();
    Object.assign(process.env, env);
    if (hideJSPI) await import("/jsglue/test/without_jspi.mjs");
    const { runFile } = await import("./node-test.js");
    return runFile(file, leftOut);
  },
};
