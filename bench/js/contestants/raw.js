// JSPI as an experienced user writes it by hand, with nothing around it: no scheduler, no bound, one shadow stack for
// all calls, no cancellation. A yield is only a resume round trip: the import makes a Promise, resolves it, and returns
// it; the stack is suspended and goes on in a microtask. Among several stacks the engine's microtask queue is fair.

import { bytes } from "../host.js";

export async function open({ wait }) {
  let wake;
  const keep = (resolve) => {
    wake = resolve;
  };
  const yieldNow = () => {
    const parked = new Promise(keep);
    wake();
    return parked;
  };
  const { instance } = await WebAssembly.instantiate(await bytes("guest.wasm"), {
    fiberfill: { yield: new WebAssembly.Suspending(yieldNow) },
    env: { wait: new WebAssembly.Suspending(wait) },
  });
  const { turns, call, compute } = instance.exports;
  return {
    turns: WebAssembly.promising(turns),
    call: WebAssembly.promising(call),
    compute, // nothing waits in it, so a user would not make it promising
  };
}
