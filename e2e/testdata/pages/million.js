// Makes many calls at once. Each waits for a Promise of its own.
globalThis.million = {
  async run(count) {
    const bytes = await (await fetch("/bench/guest.wasm")).arrayBuffer();
    const { exports } = await fiberfill.instantiate(bytes, { env: { wait: fiberfill.suspending(async (id) => id) } });
    const began = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers();
    let left = count;
    let sum = 0;
    const done = (value) => {
      sum += value;
      if (--left === 0) resolve();
    };
    for (let id = 0; id < count; id++) exports.call(id).then(done, reject);
    const called = performance.now();
    await promise;
    return { sum, left: fiberfill.fibers().length, calling: called - began, ms: performance.now() - began };
  },
};
