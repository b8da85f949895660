import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fetching, items, until, values } from "../fetching.mjs";

const bytes = readFileSync(new URL("guest.wasm", import.meta.url));
const abort = () => assert.fail("the guest has aborted");

for (const stacks of ["jspi", "unwind"]) {
  test(`AssemblyScript, ${stacks}: 300 calls wait at once and get their own answers, in any order`, async () => {
    const g = await fetching(bytes, { stacks }, { abort });
    assert.deepEqual(await items(g, 300, undefined, g.exports.item), values(300));
  });

  test(`AssemblyScript, ${stacks}: a cancelled call aborts its fetch; the guest can be called again`, async () => {
    const g = await fetching(bytes, { stacks }, { abort });
    const call = g.exports.item(1);
    await until(() => g.asked.length === 1);
    call.cancel("no longer wanted");
    assert.equal(await call.catch((reason) => reason), "no longer wanted");
    assert.deepEqual(g.aborted, ["/item?id=1"]);
    g.asked.length = 0;
    assert.deepEqual(await items(g, 3, undefined, g.exports.item), values(3));
    // The program's own collector, when nothing is under way.
    g.instance.exports.__collect();
    assert.deepEqual(await items(g, 3, undefined, g.exports.item), values(3));
  });
}
