// The stack-switching instructions of the engine.

import { bytes } from "../host.js";
import { operations } from "../operations.js";

export const open = async () => operations(new WebAssembly.Module(await bytes("continuations.wasm")), WebAssembly);
