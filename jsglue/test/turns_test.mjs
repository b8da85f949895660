// Calls of a guest that run one after another: one that an import makes after an await. Whether the import waits for it
// cannot be known, so it is told, by a scan that takes place every ten seconds. This file has only this test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { fibers, instantiate, suspending } from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

test("a call that was made while the call before it waits is told with that one and the import, once", async () => {
  let exports;
  const wait = suspending(async (v) => {
    if (v > 1) return;
    await undefined;
    await exports.call.with({ name: "inner" })(2);
  });
  const text = `(module (import "env" "wait" (func $wait (param i32))) (memory 1)
    (global $sp (mut i32) (i32.const 65536))
    (func (export "call") (param i32) (result i32)
      (global.set $sp (i32.sub (global.get $sp) (i32.const 16)))
      (call $wait (local.get 0))
      (global.set $sp (i32.add (global.get $sp) (i32.const 16)))
      (local.get 0)))`;
  const options = { shadowStack: { regions: "serial" } };
  ({ exports } = await instantiate(assemble(text), { env: { wait } }, options));
  const said = [];
  console.warn = (line) => said.push(line);
  const outer = exports.call.with({ name: "outer" })(1);
  const before = exports.call(3);
  for (const deadline = Date.now() + 60_000; said.length === 0 && Date.now() < deadline;) await after(250);
  await after(11_000); // one more scan
  assert.equal(said.length, 1, said.join("\n"));
  assert.match(
    said[0],
    /^fiberfill: stalled\. Fiber inner waits until fiber outer is over, which has waited in import env\.wait /,
  );
  outer.cancel();
  await assert.rejects(outer, { code: "cancelled" });
  assert.equal(await before, 3);
  while (fibers().length > 0) await new Promise(setImmediate); // inner has its turn, too
});
