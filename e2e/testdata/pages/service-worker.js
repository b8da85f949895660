// A service worker with the npm package. It runs a guest; a guest with fibers of its own is refused.
import * as fiberfill from "/dist/npm/esm/index.js";
import { host } from "./guests.js";
import "./proposals-run.js";

async function run() {
  const { imports, attach } = host(fiberfill.suspending);
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), imports);
  attach(instance);
  const items = await Promise.all(
    Array.from({ length: 100 }, (_, id) => exports.item(`${location.origin}/item?id=${id}`)),
  );
  const own = await proposalsRun(fiberfill).then(
    () => "nothing",
    ({ code, message }) => `${code}: ${message}`,
  );
  return { items, own };
}

addEventListener("message", (event) => {
  const [port] = event.ports;
  const told = run().then(
    (value) => port.postMessage({ value }),
    (error) => port.postMessage({ error: String(error) }),
  );
  event.waitUntil(told);
});
