// A module worker that uses the npm package. The page calls the functions below with { name, args }. The answer is {
// value } or { error }; before it comes an { escaped } for every error that has escaped until then.
import * as fiberfill from "/dist/npm/esm/index.js";
import { host } from "./guests.js";

const text = (error) => (error instanceof Error ? `${error}\n${error.stack}` : String(error));
const escaped = (event, error) => {
  event.preventDefault();
  if (error !== last) postMessage({ escaped: text(error) });
};
addEventListener("error", (event) => escaped(event, event.error ?? event.message));
addEventListener("unhandledrejection", (event) => escaped(event, event.reason));

// A browser reports rejections late, but in order: when this one is reported, the earlier ones have been.
let last;
async function settled() {
  await new Promise((resolve) => setTimeout(resolve)); // timers that are due throw first
  last = new Error("the last rejection, made by worker-guest.js");
  await new Promise((resolve) => {
    addEventListener("unhandledrejection", ({ reason }) => {
      if (reason === last) resolve();
    });
    Promise.reject(last);
  });
}

async function guest() {
  const { imports, attach } = host(fiberfill.suspending, () => fiberfill.current().signal);
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), imports);
  attach(instance);
  return exports;
}

const functions = {
  async items(count) {
    const exports = await guest();
    const values = await Promise.all(
      Array.from({ length: count }, (_, id) => exports.item(`${location.origin}/item?id=${id}&ms=20`)),
    );
    return { values, page: typeof document, left: fiberfill.fibers().length };
  },
  // One fiber fails and one goes on.
  async fails() {
    const exports = await guest();
    const outcomes = await Promise.allSettled(
      ["/item?id=1&fail=100", "/item?id=2"].map((path) => exports.item(location.origin + path)),
    );
    return outcomes.map(({ reason, value }) => reason?.message ?? value);
  },
  letEscape() {
    setTimeout(() => {
      throw new Error("nobody catches");
    });
    Promise.reject(new Error("nobody listens"));
  },
};

addEventListener("message", async ({ data: { name, args } }) => {
  let reply;
  try {
    reply = { value: await functions[name](...args) };
  } catch (error) {
    reply = { error: text(error) };
  }
  await settled();
  postMessage(reply);
});
