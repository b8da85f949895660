// What this page adds to fiberfill.js. The page shows these functions as the code that it runs.

async function load(file) {
  const bytes = (at, length) => new Uint8Array(exports.memory.buffer, at, length);
  const fetch_text = fiberfill.suspending(async (url, length, buffer, capacity) => {
    const text = new TextDecoder().decode(bytes(url, length));
    const response = await fetch(text, { signal: fiberfill.current().signal });
    const body = new Uint8Array(await response.arrayBuffer());
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    bytes(buffer, capacity).set(body.subarray(0, capacity));
    return body.length;
  });
  const imports = { env: { fetch_text, log() {} } };
  const { exports } = await fiberfill.instantiateStreaming(fetch(file), imports);
  return exports; // exports.item("/item?id=17") is a fiber: a Promise of the value
}

async function loadGo() {
  const go = new Go(); // wasm_exec.js, which comes with every Go toolchain
  const program = fetch("go-fetch.wasm");
  const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
  go.run(instance); // the program sets goFetch and runs until it is stopped
  return goFetch; // goFetch.item("/item?id=17", signal) is a Promise of the value
}
