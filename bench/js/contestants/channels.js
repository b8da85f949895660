// Go channels, in a program compiled by the standard toolchain for js/wasm (bench/channels). Goroutines are Go's own
// fibers. Everything happens inside Go; JavaScript only reads the clock around it.

import { bytes, script } from "../host.js";

export async function open() {
  await script("wasm_exec.js");
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiate(await bytes("channels.wasm"), go.importObject);
  go.run(instance); // returns a Promise of the program's end, which never comes
  const run = globalThis.channels;
  const answer = (...args) => new Promise((resolve) => run(...args, resolve));
  return {
    /** In one go: `width` goroutines, each of which hands over n times. */
    group: (width, n) => answer("turns", width, n),
    /** In one go: `waves` waves of `width` goroutines. */
    waves: (width, waves) => answer("calls", width, waves),
    /** Starts further goroutines that wait until they are released. */
    hold: (width) => answer("hold", width, 0),
    release: () => answer("release", 0, 0),
    compute: (n) => answer("compute", n, 0),
  };
}
