async function load(name) {
  const fetch_text = fiberfill.suspending(async (url, length, buffer, capacity) => {
    const text = new TextDecoder().decode(new Uint8Array(memory.buffer, url, length));
    const response = await fetch(text, { signal: fiberfill.current().signal });
    const body = new Uint8Array(await response.arrayBuffer());
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    new Uint8Array(memory.buffer, buffer, capacity).set(body.subarray(0, capacity));
    return body.length;
  });
  const { exports } = await fiberfill.instantiateStreaming(fetch(`${name}.wasm`), { env: { fetch_text, log() {} } });
  const { memory } = exports;
  return exports; // exports.item("/item?id=17") is a fiber
}
