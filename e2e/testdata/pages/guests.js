// The imports of the C and the WAT guest. `suspending` marks a function that may wait; the way depends on what links
// the guest. `signal` returns the AbortSignal for a fetch, or undefined. After instantiation `attach` gives the imports
// the memory. `told` collects the guest's logs, as [code, value].
export function host(suspending, signal = () => undefined) {
  let memory;
  const told = [];
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  async function fetchText(url, urlLength, buffer, capacity) {
    const response = await fetch(new TextDecoder().decode(bytes(url, urlLength)), { signal: signal() });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const body = new Uint8Array(await response.arrayBuffer());
    bytes(buffer, capacity).set(body.subarray(0, capacity));
    return body.length;
  }
  return {
    imports: {
      env: {
        fetch_text: suspending(fetchText),
        log: (code, value) => {
          told.push([code, value]);
        },
      },
    },
    attach(instance) {
      memory = instance.exports.memory;
    },
    told,
  };
}
