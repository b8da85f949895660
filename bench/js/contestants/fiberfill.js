// fiberfill as a page uses it: the built script, the guest, one marked import.

import { bytes, script } from "../host.js";
import { systems } from "../systems.js";

export async function open({ wait }) {
  await script("fiberfill.js");
  if (!wait) return { cost: systems({}) };
  const { fiberfill } = globalThis;
  const { exports } = await fiberfill.instantiate(await bytes("guest.wasm"), {
    env: { wait: fiberfill.suspending(wait) },
  });
  return { turns: exports.turns, call: exports.call, compute: exports.compute };
}
