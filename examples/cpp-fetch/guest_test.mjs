import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fetching, items, until, values } from "../fetching.mjs";

const bytes = readFileSync(new URL("guest.wasm", import.meta.url));

for (const stacks of ["jspi", "unwind"]) {
  test(`C++, ${stacks}: 300 calls wait at once and get their own answers, in any order`, async () => {
    const g = await fetching(bytes, { stacks });
    const open = () => g.instance.exports.open();
    assert.deepEqual(await items(g, 300, () => assert.equal(open(), 300)), values(300));
    assert.equal(open(), 0);
  });

  test(`C++, ${stacks}: destructors run in a call that is cancelled, and in one whose fetch fails`, async () => {
    const g = await fetching(bytes, { stacks });
    const reasons = [new Error("no longer wanted"), new TypeError("no network")];
    const calls = [g.exports.item("/item?id=1"), g.exports.item("/item?id=2")];
    await until(() => g.asked.length === 2);
    assert.equal(g.instance.exports.open(), 2);
    calls[0].cancel(reasons[0]);
    g.asked[1].fail(reasons[1]);
    const settled = await Promise.allSettled(calls);
    assert.deepEqual(
      settled.map(({ reason }) => reason),
      reasons,
    );
    assert.deepEqual(
      calls.map(({ state }) => state),
      ["cancelled", "failed"],
    );
    assert.deepEqual(g.aborted, ["/item?id=1"]);
    assert.equal(g.instance.exports.open(), 0);
  });
}
