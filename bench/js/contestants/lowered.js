// The stack-switching instructions, rewritten by fiberfill, though the engine may have them.

import { WebAssembly } from "../lowering/webassembly.js";
import { bytes } from "../host.js";
import { operations } from "../operations.js";

export const open = async () =>
  operations(new WebAssembly.Module(await bytes("continuations.wasm"), { stacks: "unwind" }), WebAssembly);
