// Go's fibers (package polyfill/run), in a program compiled by the standard toolchain for js/wasm, the same as natively
// (bench/costs). Everything happens inside Go; JavaScript only reads the clock around it.

import { bytes, script } from "../host.js";

export async function open() {
  await script("wasm_exec.js");
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiate(await bytes("costs.wasm"), go.importObject);
  go.run(instance); // returns a Promise of the program's end, which never comes
  return { cost: (operation, n) => new Promise((resolve) => globalThis.costs(operation, n, resolve)) };
}
