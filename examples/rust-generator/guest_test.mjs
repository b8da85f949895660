import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { instantiate } from "../../web/dist/npm/esm/index.js";

const bytes = readFileSync(new URL("guest.wasm", import.meta.url));

for (const stacks of ["jspi", "unwind"]) {
  test(`Rust, ${stacks}: two trees are walked in step by recursive generators`, async () => {
    const { exports, fibers } = await instantiate(bytes, {}, { stacks });
    assert.equal(await exports.same(1000, 1000), 1);
    for (const missing of [0, 500, 999]) assert.equal(await exports.same(1000, missing), 0);
    assert.deepEqual(fibers(), []);
  });

  test(`Rust, ${stacks}: a generator without an end is released when it is dropped`, async () => {
    const { exports, fibers } = await instantiate(bytes, {}, { stacks });
    for (let i = 0; i < 50; i++) assert.equal(await exports.squares(10), 385n);
    assert.deepEqual(fibers(), []);
  });
}
