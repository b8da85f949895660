// The same, rewritten by fiberfill: an import waits, and fibers are on stacks of fiberfill's own. The glue calls the
// exports directly, so nothing is timed but the program.

import { bytes, script } from "../host.js";
import { interpreters } from "../interpreters.js";

export async function open() {
  await script("fiberfill.js");
  const { fiberfill } = globalThis;
  const waiting = JSON.parse(new TextDecoder().decode(await bytes("interpreters/waiting.json")));
  return interpreters(async (name, imports) => {
    const [module, field] = waiting[name];
    const wait = fiberfill.suspending(imports[module][field]);
    const all = { ...imports, [module]: { ...imports[module], [field]: wait } };
    return (await fiberfill.instantiate(await bytes(`interpreters/${name}.wasm`), all, { stacks: "unwind" })).instance;
  });
}
