// Many fetches at once, each by a fiber.
import { host } from "./guests.js";

const item = (id) => `${location.origin}/item?id=${id}`;
const value = (id) => (id * 2654435761 + 12345) % 1000003;

async function load(change) {
  const { imports, attach } = host(
    (fn) => fiberfill.suspending(change(fn)),
    () => fiberfill.current().signal,
  );
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), imports);
  attach(instance);
  return exports;
}

globalThis.cost = {
  // Makes count calls at once, each with a fetch. Returns how many have the right value, the most fetches in flight,
  // and how many fibers are left.
  async calls(count) {
    // Else more are started when none has moved for a second, which happens to fetches on a busy machine.
    fiberfill.limits({ hard: 1000 });
    let out = 0;
    let most = 0;
    const guest = await load((fetchText) => async (...args) => {
      most = Math.max(most, ++out);
      try {
        return await fetchText(...args);
      } finally {
        out--;
      }
    });
    const results = await Promise.allSettled(Array.from({ length: count }, (_, id) => guest.item(item(id))));
    return {
      right: results.filter((result, id) => result.value === value(id)).length,
      most,
      left: fiberfill.fibers().length,
    };
  },
};
