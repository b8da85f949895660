// fiberfill, as a page gets it: the built script, the guest, one mark.

import { bytes, script } from "../host.js";

export async function open({ wait }) {
  await script("fiberfill.js");
  const { fiberfill } = globalThis;
  const { exports } = await fiberfill.instantiate(await bytes("guest.wasm"), { env: { wait: fiberfill.suspending(wait) } });
  return { turns: exports.turns, call: exports.call, compute: exports.compute };
}
