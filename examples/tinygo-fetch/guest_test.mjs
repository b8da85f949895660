import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fetching, items, until, values } from "../fetching.mjs";

const bytes = readFileSync(new URL("guest.wasm", import.meta.url));

async function started(stacks) {
  const g = await fetching(bytes, { stacks });
  g.instance.exports._initialize();
  return g;
}

for (const stacks of ["jspi", "unwind"]) {
  test(`TinyGo, ${stacks}: 300 calls wait at once and get their own answers, in any order`, async () => {
    const g = await started(stacks);
    const open = () => g.instance.exports.open();
    assert.deepEqual(await items(g, 300, () => assert.equal(open(), 300)), values(300));
    assert.equal(open(), 0);
    assert.equal(g.stacks.source, "allocator");
  });

  test(`TinyGo, ${stacks}: a call that is cancelled aborts its fetch, and runs nothing deferred`, async () => {
    const g = await started(stacks);
    const call = g.exports.item("/item?id=1");
    await until(() => g.asked.length === 1);
    call.cancel("no longer wanted");
    assert.equal(await call.catch((reason) => reason), "no longer wanted");
    assert.deepEqual(g.aborted, ["/item?id=1"]);
    assert.equal(g.instance.exports.open(), 1); // the README says so
    g.asked.length = 0;
    assert.deepEqual(await items(g, 3), values(3));
  });
}
