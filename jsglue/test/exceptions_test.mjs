// What a guest sees of a cancellation if it uses the exceptions from before exnref, which compilers still write by
// default, or JavaScript's own. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { rejection, until } from "./waiting_guest.mjs";

test("in Bun 1.2, which does not bear a guest's exceptions, that is told; nowhere else", async () => {
  const warn = mock.method(console, "warn", () => {});
  const text = `(module (import "env" "wait" (func $wait)) (tag $t)
    (func (export "f") (block $h (try_table (catch $t $h) (call $wait) (throw $t)))))`;
  for (let k = 0; k < 2; k++) {
    const env = { wait: fiberfill.suspending(async () => {}) };
    await (await fiberfill.instantiate(assemble(text), { env }, { stacks: "unwind" })).exports.f();
  }
  const told = warn.mock.calls.map(({ arguments: [said] }) => said);
  warn.mock.restore();
  const strays = globalThis.process?.versions?.bun?.startsWith("1.2.");
  assert.equal(told.length, strays ? 1 : 0);
  if (strays) assert.match(told[0], /Bun 1\.2 .* BUN_JSC_useOMGJIT=0/);
});

const bytes = assemble(`(module
  (import "env" "wait" (func $wait (param i32) (result i32)))
  (import "env" "note" (func $note (param i32)))
  (import "js" "tag" (tag $js (param externref)))
  (tag $own (param i32))
  (memory 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))

  ;; Notes what is on its stack, and rethrows.
  (func (export "cleanup") (param i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get 0))
    (try (do (local.set 0 (call $wait (local.get 0))))
      (catch_all
        (call $note (select (i32.load (local.get $frame)) (i32.const -1) (i32.eq (global.get $sp) (local.get $frame))))
        (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
        (rethrow 0)))
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (local.get 0))

  ;; The same, with a delegate to an outer try.
  (func (export "delegated") (param i32) (result i32)
    (try $out (result i32)
      (do (try (result i32) (do (call $wait (local.get 0))) (delegate $out)))
      (catch_all (call $note (local.get 0)) (rethrow 0))))

  ;; Returns what was thrown, if JavaScript threw it.
  (func (export "told") (param i32) (result externref)
    (try (result externref)
      (do (drop (call $wait (local.get 0))) (ref.null extern))
      (catch $js)))

  ;; Catches only its own exception.
  (func (export "own") (param i32) (result i32)
    (try (result i32)
      (do (drop (call $wait (local.get 0))) (throw $own (i32.const 7)))
      (catch $own)))

  (func (export "throws") (param i32) (result i32)
    (drop (call $wait (local.get 0)))
    (throw $own (local.get 0))))`);

for (const regions of ["grow", "copy"]) {
  test(`${regions}: a guest with legacy exceptions sees a cancellation, cleans up, and sees no release`, async () => {
    const notes = [];
    const gates = [];
    const { exports } = await fiberfill.instantiate(
      bytes,
      {
        js: { tag: WebAssembly.JSTag },
        env: {
          note: (n) => notes.push(n),
          wait: fiberfill.suspending((n) => (gates[n] = Promise.withResolvers()).promise),
        },
      },
      { shadowStack: { regions } },
    );
    const names = ["cleanup", "cleanup", "cleanup", "cleanup", "delegated", "told", "told", "own", "own", "throws"];
    const calls = names.map((name, n) => exports[name](n));
    await until(() => gates.filter(Boolean).length === calls.length);
    const reason = { why: "enough" };
    const mine = new Error("mine");
    for (const n of [1, 4, 5, 7]) calls[n].cancel(reason);
    for (const n of [3, 6]) calls[n].release();
    gates[0].reject(mine);
    for (const n of [2, 8, 9]) gates[n].resolve(20);
    for (const n of [1, 4, 7]) assert.equal(await rejection(calls[n]), reason);
    for (const n of [3, 6]) assert.equal((await rejection(calls[n])).code, "released");
    assert.equal(await rejection(calls[0]), mine);
    assert.equal(await calls[2], 20);
    assert.equal(await calls[5], reason);
    assert.equal(await calls[8], 7);
    assert.ok((await rejection(calls[9])) instanceof WebAssembly.Exception);
    assert.deepEqual(notes.sort(), [0, 1, 4]);
    const ends = {
      0: "failed",
      1: "cancelled",
      2: "done",
      3: "cancelled",
      4: "cancelled",
      5: "done",
      6: "cancelled",
      7: "cancelled",
      8: "done",
      9: "failed",
    };
    assert.deepEqual({ ...calls.map(({ state }) => state) }, ends);
    assert.deepEqual(fiberfill.fibers(), []);
  });
}
