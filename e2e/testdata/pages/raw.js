// The guests over the engine's own JSPI. The URL of each call is written to an unused part of the guest's memory.
import { host } from "./guests.js";

async function load(name) {
  const { imports, attach } = host((fn) => new WebAssembly.Suspending(fn));
  imports.fiberfill = { yield: new WebAssembly.Suspending(async () => {}) };
  const { instance } = await WebAssembly.instantiateStreaming(fetch(`/examples/${name}/guest.wasm`), imports);
  attach(instance);
  const { memory } = instance.exports;
  let free = memory.grow(1) * 65536;
  const promising = {};
  for (const [name, fn] of Object.entries(instance.exports)) {
    if (typeof fn === "function") promising[name] = WebAssembly.promising(fn);
  }
  return {
    call(name, url, ...more) {
      const bytes = new TextEncoder().encode(url);
      const at = free;
      free += bytes.length;
      new Uint8Array(memory.buffer).set(bytes, at);
      return promising[name](at, bytes.length, ...more);
    },
  };
}

const item = (id, more = "") => `${location.origin}/item?id=${id}${more}`;

globalThis.raw = {
  // One call at a time, which works on raw JSPI.
  async oneAfterAnother() {
    const [c, wat] = [await load("c-fetch"), await load("wat-fetch")];
    const result = { C: [], WAT: [], Or: [] };
    for (let id = 0; id < 5; id++) {
      result.C.push(await c.call("item", item(id)));
      result.WAT.push(await wat.call("item", item(id)));
    }
    result.Sum = await c.call("sum", `${location.origin}/item?id=`, 0, 3);
    result.Or.push(await wat.call("item_or", item(17), 4711));
    result.Or.push(await wat.call("item_or", item(17, "&fail=100"), 4711));
    return result;
  },

  // Makes ten calls; when the first of them has ended, early, another ten. The only stack pointer is then at the first
  // call's frame, so the second ten overwrite the frames of the nine that still wait. Returns the twenty values.
  async twoWaves(name) {
    const guest = await load(name);
    const ten = (from, more) =>
      Array.from({ length: 10 }, (_, i) => guest.call("item", item(from + i, i > 0 ? more : "")));
    const first = ten(0, "&ms=300");
    await first[0];
    return Promise.all([...first, ...ten(10)]);
  },

  letEscape() {
    Promise.reject(new Error("nobody listens"));
    return 1;
  },

  async ask(id) {
    await (await fetch(item(id))).text();
  },
};
