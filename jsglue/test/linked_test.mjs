// Two guests linked to each other by the platform's means: exports of one are imports of the other. Run over
// web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fibers, instantiate, suspending } from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

/**
 * keep(v) pushes v on the shadow stack, waits, and returns the v that it then finds in memory, or -1 if the stack
 * pointer has moved.
 */
const keep = `(module
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
  (func (export "add") (param i32 i64) (result i64) (i64.add (i64.extend_i32_s (local.get 0)) (local.get 1))))`;
const library = assemble(keep);

const program = assemble(`(module
  (import "library" "keep" (func $keep (param i32) (result i32)))
  (import "library" "add" (func $add (param i32 i64) (result i64)))
  (func (export "twice") (param i32) (result i32) (i32.add (call $keep (local.get 0)) (call $keep (local.get 0))))
  (func (export "sum") (param i32) (result i64) (call $add (local.get 0) (i64.const 40))))`);

/** The same with a wait that has a result. */
const ofResult = assemble(
  keep
    .replace("(param i32)))", "(param i32) (result i32)))")
    .replace("(call $wait (local.get $v))", "(drop (call $wait (local.get $v)))"),
);

const passing = assemble(`(module (import "library" "keep" (func $keep (param i32) (result i32)))
  (func (export "keep") (param i32) (result i32) (call $keep (local.get 0))))`);

for (const which of ["exports", "the platform's exports"]) {
  test(`fibers that are in another guest's code at once keep their frames there: linked by ${which}`, async () => {
    const waits = [];
    const a = await instantiate(library, {
      env: { wait: suspending((v) => new Promise((resolve) => waits.push({ v, resolve }))) },
    });
    const { exports } = await instantiate(program, { library: which === "exports" ? a.exports : a.instance.exports });
    const calls = Array.from({ length: 20 }, (_, i) => exports.twice(i));
    let settled = 0;
    while (settled < 40) {
      await new Promise(setImmediate);
      // Out of order, and several in one microtask drain.
      for (const { resolve } of waits.splice(0).sort((x, y) => ((x.v * 7) % 20) - ((y.v * 7) % 20))) {
        resolve();
        settled++;
      }
    }
    assert.deepEqual(
      await Promise.all(calls),
      calls.map((_, i) => 2 * i),
    );
    assert.deepEqual(fibers(), []);
  });

  test(`fibers that wait in another guest keep their frames, even if it has no stack: linked by ${which}`, async () => {
    const ends = [];
    const plain = (guest) => (which === "exports" ? guest.exports : guest.instance.exports);
    let last = await instantiate(passing, {
      library: { keep: suspending((v) => new Promise((end) => (ends[v] = () => end(v)))) },
    });
    last = await instantiate(passing, { library: plain(last) });
    const { exports } = await instantiate(ofResult, { env: { wait: plain(last).keep } });
    const began = async (n) => {
      while (!ends[n]) await new Promise(setImmediate);
    };
    const calls = [exports.keep(0), exports.keep(1)];
    await began(1);
    ends[0]();
    assert.equal(await calls[0], 0);
    calls.push(exports.keep(2), exports.keep(3)); // where the first one was, and below it
    await began(3);
    for (const n of [1, 3, 2]) ends[n]();
    assert.deepEqual(await Promise.all(calls), [0, 1, 2, 3]);
    assert.deepEqual(fibers(), []);
  });

  test(`where nothing can wait, only calls that do wait are refused: linked by ${which}`, async () => {
    const a = await instantiate(library, { env: { wait: suspending(async () => {}) } });
    const { exports, instance } = await instantiate(program, {
      library: which === "exports" ? a.exports : a.instance.exports,
    });
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
