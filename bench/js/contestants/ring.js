// Raw JSPI with a ready queue, the least that a scheduler needs: a ring of fixed size. A fiber that yields goes to its
// end and wakes the first one, so exactly one stack is being resumed at any time. There is no limit, no inbox and no
// end of a turn: the page is blocked until all is done.

import { bytes } from "../host.js";

const SIZE = 1024; // places; a power of two, more than there are fibers

export async function open({ wait }) {
  const ring = new Array(SIZE).fill(undefined);
  let head = 0;
  let tail = 0;
  let going = false;
  const push = (resolve) => {
    ring[tail] = resolve;
    tail = (tail + 1) & (SIZE - 1);
  };
  const next = () => {
    if (head === tail) return;
    const wake = ring[head];
    ring[head] = undefined;
    head = (head + 1) & (SIZE - 1);
    wake();
  };
  const yieldNow = () => {
    const parked = new Promise(push);
    if (going) next();
    return parked;
  };
  const { instance } = await WebAssembly.instantiate(await bytes("guest.wasm"), {
    fiberfill: { yield: new WebAssembly.Suspending(yieldNow) },
    env: { wait: new WebAssembly.Suspending(wait) },
  });
  const turns = WebAssembly.promising(instance.exports.turns);
  return {
    /** The first of a group starts the ring, once all have been started. */
    turns(n) {
      if (head === tail) {
        going = false;
        queueMicrotask(() => {
          going = true;
          next();
        });
      }
      const result = turns(n);
      result.then(next);
      return result;
    },
  };
}
