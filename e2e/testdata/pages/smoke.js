import { host } from "./guests.js";

async function load(name, stacks) {
  const { imports, attach } = host(fiberfill.suspending, () => fiberfill.current().signal);
  const guest = fetch(`/examples/${name}/guest.wasm`);
  const { instance, exports } = await fiberfill.instantiateStreaming(guest, imports, { stacks });
  attach(instance);
  return exports;
}

globalThis.smoke = {
  // Returns the values of the items 0, 1, 2, ..., which as many fibers of one instance fetch at once.
  async fetch(name, count, stacks) {
    const exports = await load(name, stacks);
    const fibers = Array.from({ length: count }, (_, id) =>
      exports.item(`${location.origin}/item?id=${id}&ms=20&seed=1`),
    );
    return Promise.all(fibers);
  },

  // The two waves that raw JSPI mixes up (raw.js).
  async twoWaves(name) {
    const exports = await load(name);
    const ten = (from, more = "") =>
      Array.from({ length: 10 }, (_, i) => exports.item(`${location.origin}/item?id=${from + i}${i > 0 ? more : ""}`));
    const first = ten(0, "&ms=300");
    await first[0];
    return Promise.all([...first, ...ten(10)]);
  },

  async run(stacks) {
    const result = {};
    for (const name of ["c-fetch", "wat-fetch"]) result[name] = await smoke.fetch(name, 100, stacks);
    return result;
  },
  unwound: () => smoke.run("unwind"),

  // Where a fiber stands that waits, by the names of the guest's functions, and the stack of an error that ends it.
  async stands() {
    let reject;
    const fetch_text = fiberfill.suspending(() => new Promise((_, no) => (reject = no)));
    const bytes = await (await fetch("/examples/c-fetch/guest.wasm")).arrayBuffer();
    const { exports } = await fiberfill.instantiate(bytes, { env: { fetch_text, log() {} } }, { stacks: "unwind" });
    const fiber = exports.item(location.origin);
    while (!reject) await new Promise((resolve) => setTimeout(resolve));
    const { frames } = fiber;
    reject(new Error("refused"));
    return { frames, stack: (await fiber.catch((error) => error)).stack };
  },
};
