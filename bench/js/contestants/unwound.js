// fiberfill on stacks of its own: the built script, the guest rewritten when it is instantiated.

import { bytes, script } from "../host.js";
import { systems } from "../systems.js";

export async function open({ wait }) {
  await script("fiberfill.js");
  if (!wait) return { cost: systems({ stacks: "unwind" }) };
  const { fiberfill } = globalThis;
  const imports = { env: { wait: fiberfill.suspending(wait) } };
  const { exports } = await fiberfill.instantiate(await bytes("guest.wasm"), imports, { stacks: "unwind" });
  return { turns: exports.turns, call: exports.call, compute: exports.compute };
}
