// A generator rewritten by Binaryen's Asyncify.

import { bytes } from "../host.js";
import { operations } from "../operations.js";

export const open = async () => operations(new WebAssembly.Module(await bytes("asyncified.wasm")), WebAssembly);
