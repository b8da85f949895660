// The same, rewritten by Binaryen's Asyncify so that an import may wait.

import { bytes } from "../host.js";
import { interpreters } from "../interpreters.js";

export const open = async () =>
  interpreters(async (name, imports) => {
    const { instance } = await WebAssembly.instantiate(await bytes(`interpreters/${name}.asyncify.wasm`), imports);
    return instance;
  });
