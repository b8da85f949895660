import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fibers } from "../../web/dist/npm/esm/index.js";
import { fetching, items, json, until, values } from "../fetching.mjs";

const bytes = readFileSync(new URL("guest.wasm", import.meta.url));

for (const stacks of ["jspi", "unwind"]) {
  test(`Rust, ${stacks}: 300 calls wait at once and get their own answers, in any order`, async () => {
    const g = await fetching(bytes, { stacks });
    const open = () => g.instance.exports.open();
    assert.deepEqual(await items(g, 300, () => assert.equal(open(), 300)), values(300));
    assert.equal(open(), 0);
  });

  test(`Rust, ${stacks}: a cancelled call drops what it owns, aborts its fetch, rejects with the reason`, async () => {
    const g = await fetching(bytes, { stacks });
    const reason = new Error("no longer wanted");
    const [unwanted, other] = [g.exports.item("/item?id=1"), g.exports.item("/item?id=2")];
    await until(() => g.asked.length === 2);
    unwanted.cancel(reason);
    assert.equal(await unwanted.catch((error) => error), reason);
    assert.equal(unwanted.state, "cancelled");
    assert.deepEqual(g.aborted, ["/item?id=1"]);
    assert.equal(g.instance.exports.open(), 1);
    g.asked[1].answer(json(2));
    assert.equal(await other, 1002);
    assert.equal(g.instance.exports.open(), 0);
  });

  test(`Rust, ${stacks}: what has failed is a value, and everything is dropped`, async () => {
    const g = await fetching(bytes, { stacks });
    const calls = [g.exports.item("/item?id=1"), g.exports.item("/item?id=2")];
    await until(() => g.asked.length === 2);
    g.asked[0].fail(new TypeError("no network"));
    g.asked[1].answer("no JSON");
    assert.deepEqual(await Promise.all(calls), [-2, -1]);
    assert.equal(g.instance.exports.open(), 0);
  });

  test(`Rust, ${stacks}: it sleeps without an executor, and says how often if it is cancelled`, async () => {
    const g = await fetching(bytes, { stacks });
    const [short, long] = [g.exports.naps(3, 1), g.exports.naps(2, 2 ** 30)];
    assert.equal(await short, 3);
    assert.equal(long.state, "waiting");
    long.cancel();
    assert.equal(await long, 0);
    assert.equal(g.instance.exports.open(), 0);
    assert.deepEqual(fibers(), []);
  });

  test(`Rust, ${stacks}: a panic's text is in the error of its fiber, and others go on`, async () => {
    const g = await fetching(bytes, { stacks });
    const [odd, even, item] = [g.exports.half(7), g.exports.half(8), g.exports.item("/item?id=1")];
    const { code, message } = await odd.catch((error) => error);
    assert.equal(code, "trap");
    assert.match(message, /^fiber half#\d+ trapped in export half: .+: panicked at .*7 is odd.*src\/lib\.rs:\d+/);
    assert.equal(await even, 4);
    await until(() => g.asked.length === 1);
    g.asked[0].answer(json(1));
    assert.equal(await item, 1001);
  });
}
