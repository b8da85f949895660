// Plain calls of guests with fibers of their own, on stacks of fiberfill's own.

import { script } from "../host.js";
import { systems } from "../systems.js";

export async function open() {
  await script("fiberfill.js");
  return { cost: systems({ stacks: "unwind" }, true) };
}
