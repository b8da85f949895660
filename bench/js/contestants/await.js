// Plain async functions, without wasm, as people write who have no guest to run. A yield is an await of undefined, and
// the engine's microtask queue is the ready queue.

export async function open({ wait }) {
  const memory = new Int32Array(32768);
  return {
    async turns(n) {
      let done = 0;
      do {
        await undefined;
        done++;
      } while (done < n);
      return done;
    },

    async call(id) {
      return ((await wait(id)) + 1) | 0;
    },

    compute(n) {
      let x = 2463534242 | 0;
      do {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
        memory[(x & 0x7ffc) >> 2] = x;
      } while ((n = (n - 1) | 0));
      return x;
    },
  };
}
