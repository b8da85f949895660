// Two guests linked to each other by the platform's means: exports of one are imports of the other. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fibers, instantiate, suspending } from "../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

/** keep(v) pushes v on the shadow stack, waits, and returns v as it is in memory then, or -1 if the stack pointer has moved. */
const library = assemble(`(module
  (import "env" "wait" (func $wait (param i32)))
  (memory (export "memory") 2)
  (global $sp (mut i32) (i32.const 65536))
  (func (export "keep") (param $v i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $v))
    (call $wait (local.get $v))
    (if (i32.ne (global.get $sp) (local.get $frame)) (then (return (i32.const -1))))
    (local.set $v (i32.load (local.get $frame)))
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (local.get $v))
  (func (export "add") (param i32 i64) (result i64) (i64.add (i64.extend_i32_s (local.get 0)) (local.get 1))))`);

const program = assemble(`(module
  (import "library" "keep" (func $keep (param i32) (result i32)))
  (import "library" "add" (func $add (param i32 i64) (result i64)))
  (func (export "twice") (param i32) (result i32) (i32.add (call $keep (local.get 0)) (call $keep (local.get 0))))
  (func (export "sum") (param i32) (result i64) (call $add (local.get 0) (i64.const 40))))`);

for (const which of ["exports", "the platform's exports"]) {
  test(`fibers that are in another guest's code at once keep their frames there: linked by ${which}`, async () => {
    const waits = [];
    const a = await instantiate(library, { env: { wait: suspending((v) => new Promise((resolve) => waits.push({ v, resolve }))) } });
    const { exports } = await instantiate(program, { library: which === "exports" ? a.exports : a.instance.exports });
    const calls = Array.from({ length: 20 }, (_, i) => exports.twice(i));
    let settled = 0;
    while (settled < 40) {
      await new Promise(setImmediate);
      // Out of order, and several in one drain.
      for (const { resolve } of waits.splice(0).sort((x, y) => ((x.v * 7) % 20) - ((y.v * 7) % 20))) {
        resolve();
        settled++;
      }
    }
    assert.deepEqual(await Promise.all(calls), calls.map((_, i) => 2 * i));
    assert.deepEqual(fibers(), []);
  });

  test(`what does not wait can be called where nothing can wait; what does is refused there: linked by ${which}`, async () => {
    const a = await instantiate(library, { env: { wait: suspending(async () => {}) } });
    const { exports, instance } = await instantiate(program, { library: which === "exports" ? a.exports : a.instance.exports });
    assert.equal(await exports.sum(2), 42n);
    assert.equal(instance.exports.sum(2), 42n);
    assert.throws(() => instance.exports.twice(1), { code: "cannot-suspend" });
    assert.equal(await exports.twice(5), 10);
  });

  test(`what the other guest's import rejects with arrives unchanged: linked by ${which}`, async () => {
    const reason = new Error("no");
    const a = await instantiate(library, { env: { wait: suspending(() => Promise.reject(reason)) } });
    const { exports } = await instantiate(program, { library: which === "exports" ? a.exports : a.instance.exports });
    await assert.rejects(exports.twice(1), (error) => error === reason);
    assert.deepEqual(fibers(), []);
  });
}
