// Go's fibers (package polyfill/run), in a program compiled by the standard toolchain for js/wasm: the same that is
// measured natively (bench/costs). All of it happens inside Go, and JavaScript only reads the clock around it.

import { bytes, script } from "../host.js";

export async function open() {
  await script("wasm_exec.js");
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiate(await bytes("costs.wasm"), go.importObject);
  go.run(instance); // returns a Promise for the program's end, which does not come
  return { cost: (operation, n) => new Promise((resolve) => globalThis.costs(operation, n, resolve)) };
}
