// What a call that waits keeps alive: its frames, and not what it was passed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { instantiate, suspending } from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { gc } from "./gc.mjs";

const bytes = assemble(`(module
  (import "env" "wait" (func $wait (param i32)))
  (func (export "keeps") (param $object externref) (result externref)
    (call $wait (i32.const 0))
    (local.get $object))
  (func (export "drops") (param $object externref)
    (call $wait (i32.const 0))))`);

test("an argument that the guest has no more use for is collected while the call waits", async () => {
  const event = Promise.withResolvers();
  const wait = suspending(() => event.promise);
  const { exports } = await instantiate(bytes, { env: { wait } }, { stacks: "unwind" });
  const gone = new Set();
  const registry = new FinalizationRegistry((name) => gone.add(name));
  const pass = (name) => {
    const object = { name };
    registry.register(object, name);
    return exports[name](object);
  };
  const [kept, dropped] = [pass("keeps"), pass("drops")];
  for (const end = Date.now() + 60_000; gone.size === 0 && Date.now() < end; await after(10)) gc();
  assert.deepEqual([...gone], ["drops"]);
  event.resolve();
  assert.equal((await kept).name, "keeps");
  await dropped;
});
