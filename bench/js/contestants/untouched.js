// Three programs from npm as they are.

import { bytes } from "../host.js";
import { interpreters } from "../interpreters.js";

export const open = async () =>
  interpreters(async (name, imports) => {
    const { instance } = await WebAssembly.instantiate(await bytes(`interpreters/${name}.wasm`), imports);
    return instance;
  });
