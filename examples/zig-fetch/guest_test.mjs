import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fetching, items, until, values } from "../fetching.mjs";

const bytes = readFileSync(new URL("guest.wasm", import.meta.url));

for (const stacks of ["jspi", "unwind"]) {
  test(`Zig, ${stacks}: 300 calls wait at once and get their own answers, in any order`, async () => {
    const g = await fetching(bytes, { stacks });
    assert.equal(g.stacks.source, "grow");
    assert.deepEqual(await items(g, 300), values(300));
  });

  test(`Zig, ${stacks}: an error of the program is a value`, async () => {
    const g = await fetching(bytes, { stacks });
    const call = g.exports.item("/item?id=1");
    await until(() => g.asked.length === 1);
    g.asked[0].answer("no JSON");
    assert.equal(await call, -1);
  });

  test(`Zig, ${stacks}: a cancelled call aborts its fetch; the guest can be called again`, async () => {
    const g = await fetching(bytes, { stacks });
    const call = g.exports.item("/item?id=1");
    await until(() => g.asked.length === 1);
    call.cancel("no longer wanted");
    assert.equal(await call.catch((reason) => reason), "no longer wanted");
    assert.deepEqual(g.aborted, ["/item?id=1"]);
    g.asked.length = 0;
    assert.deepEqual(await items(g, 30), values(30));
  });
}
