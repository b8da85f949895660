import * as fiberfill from "/dist/npm/esm/index.js";

// Runs a guest; still no global is added.
globals.run = async () => {
  const wait = fiberfill.suspending(async (x) => x + 1);
  const { instance } = await fiberfill.instantiateStreaming(fetch("/wat/start.wasm"), { env: { wait: (x) => x } });
  return [instance instanceof WebAssembly.Instance, typeof wait, globals.added()];
};
