// fiberfill as a page uses it: the built script, the guest, one marked import.

import { bytes, script } from "../host.js";

export async function open({ wait }) {
  await script("fiberfill.js");
  const { fiberfill } = globalThis;
  const { exports } = await fiberfill.instantiate(await bytes("guest.wasm"), {
    env: { wait: fiberfill.suspending(wait) },
  });
  return { turns: exports.turns, call: exports.call, compute: exports.compute, cost };
}

const guests = {}; // for the costs, by system

/** Performs an operation of a proposal n times: "fibers1.resume". */
async function cost(operation, n) {
  const [system, name] = operation.split(".");
  if (!guests[system]) {
    const { exports } = await globalThis.fiberfill.instantiate(await bytes(`costs/${system}.wasm`), {});
    await exports.init();
    guests[system] = exports;
  }
  return guests[system][name](n);
}
