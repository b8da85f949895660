// Go channels, in a program compiled by the standard toolchain for js/wasm (bench/channels). Goroutines are Go's own
// fibers; all of it happens inside Go, and JavaScript only reads the clock around it.

import { bytes, script } from "../host.js";

export async function open() {
  await script("wasm_exec.js");
  const go = new globalThis.Go();
  const { instance } = await WebAssembly.instantiate(await bytes("channels.wasm"), go.importObject);
  go.run(instance); // returns a Promise for the program's end, which does not come
  const run = globalThis.channels;
  const answer = (...args) => new Promise((resolve) => run(...args, resolve));
  return {
    /** As one: `width` goroutines, each of which hands over n times. */
    group: (width, n) => answer("turns", width, n),
    /** As one: `waves` waves of `width` goroutines. */
    waves: (width, waves) => answer("calls", width, waves),
    /** Starts so many goroutines more that wait until they are released. */
    hold: (width) => answer("hold", width, 0),
    release: () => answer("release", 0, 0),
    compute: (n) => answer("compute", n, 0),
  };
}
