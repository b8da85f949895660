globalThis.page = {
  // Runs the C guest. Returns its result, whether the page's policy really forbids eval, and every requested address.
  async run() {
    let memory;
    const fetch_text = fiberfill.suspending(async (url, length, buffer, capacity) => {
      const body = new TextEncoder().encode('{"id":1,"value":4711}');
      new Uint8Array(memory.buffer, buffer, capacity).set(body);
      return body.length;
    });
    const { exports, instance } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), {
      env: { fetch_text, log() {} },
    });
    memory = instance.exports.memory;
    let refused = false;
    try {
      (0, eval)("1");
    } catch (error) {
      refused = error instanceof EvalError;
    }
    const value = await exports.item("?id=1");
    const asked = performance
      .getEntries()
      .filter(({ entryType }) => entryType === "resource")
      .map(({ name }) => name.replace(location.origin, ""));
    return { value, refused, asked };
  },
};
