// fiberfill/webassembly over guests whose calls all have one shadow stack. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly } from "../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";

// As Rust's programs are: they grow their memory themselves and export no malloc.
const oneStack = `(module
  (import "env" "read" (func $read (param i32 i32))) (import "env" "call" (func $call (param i32)))
  (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
  (func (export "grow") (drop (memory.grow (i32.const 1))))
  (func (export "plain") (param $v i32) (memory.fill (i32.sub (global.get $sp) (i32.const 64)) (local.get $v) (i32.const 64)))
  (func $sum (export "sum") (param $v i32) (param $frames i32) (result i32) (local $frame i32) (local $sum i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (i32.store (local.get $frame) (local.get $v))
    (if (i32.and (local.get $frames) (i32.const 1)) (then (call $call (local.get $v))))
    (call $read (local.get $v) (i32.add (local.get $frame) (i32.const 8)))
    (if (i32.ne (global.get $sp) (local.get $frame)) (then (unreachable)))
    (if (i32.ne (i32.load (local.get $frame)) (local.get $v)) (then (unreachable)))
    (local.set $sum (i32.load offset=8 (local.get $frame)))
    (if (local.get $frames) (then (local.set $sum (i32.add (local.get $sum) (call $sum (local.get $v) (i32.sub (local.get $frames) (i32.const 1)))))))
    (call $read (local.get $v) (i32.add (local.get $frame) (i32.const 12)))
    (if (i32.ne (i32.load (local.get $frame)) (local.get $v)) (then (unreachable)))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (i32.add (local.get $sum) (i32.load offset=12 (local.get $frame)))))`;

test("what an import writes through a pointer to a local before the call goes on is there, also where all calls have one stack", async () => {
  const waits = [];
  const { instance } = await WebAssembly.instantiate(assemble(oneStack), {
    env: {
      call() {},
      read: new WebAssembly.Suspending(async (v, at) => {
        await new Promise((resolve) => waits.push(resolve));
        new Int32Array(memory.buffer)[at >> 2] = v;
      }),
    },
  });
  const { memory, plain } = instance.exports;
  const sum = WebAssembly.promising(instance.exports.sum);
  const one = async (n) => {
    waits.splice(n, 1)[0]();
    await new Promise(setImmediate);
    plain(255); // below all that waits
  };
  const alone = sum(7, 2);
  while (waits.length > 0) await one(0);
  assert.equal(await alone, 42);
  // Calls that end in the reverse order of their start.
  const outer = sum(10, 0);
  const inner = [1, 2, 3].map((v) => sum(v, 1));
  while (waits.length > 1) await one(waits.length - 1);
  assert.deepEqual(await Promise.all(inner), [4, 8, 12]);
  while (waits.length > 0) await one(0);
  assert.equal(await outer, 20);
});

test("calls on one stack that begin, wait, begin others and end in any order keep their frames, and those that are cancelled or released leave none", async () => {
  let seed = 1;
  const random = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  const waits = [];
  const calls = [];
  const start = (v, frames) => {
    const call = sum(v, frames);
    calls.push({ call, ended: call.catch((error) => error), wanted: v * 2 * (frames + 1) });
  };
  const { instance } = await WebAssembly.instantiate(assemble(oneStack), {
    env: {
      call(v) {
        if (calls.length < 300) start(v + 1, random(4));
      },
      // What is read is known when the call goes on: in a local that others have no pointer to.
      read: new WebAssembly.Suspending((v, at) => {
        new Int32Array(memory.buffer)[at >> 2] = v;
        return new Promise((resolve) => waits.push(resolve));
      }),
    },
  });
  const { memory, plain, __stack_pointer: sp } = instance.exports;
  const base = sp.value;
  const sum = WebAssembly.promising(instance.exports.sum);
  const failed = new Error("failed");
  for (let round = 0; round < 2000; round++) {
    if (calls.length < 300 && random(3) === 0) start(1 + random(1000), random(5));
    const { call } = calls[random(calls.length)] ?? {};
    if (call?.state === "waiting" && random(20) === 0) [() => call.cancel(failed), () => call.release()][random(2)]();
    if (waits.length > 0) waits.splice(random(waits.length), 1)[0]();
    if (random(2)) await new Promise(setImmediate);
    if (random(4) === 0) plain(255);
  }
  while (calls.some(({ call }) => call.state === "waiting" || call.state === "queued")) {
    waits.pop()?.();
    await new Promise(setImmediate);
  }
  let right = 0;
  for (const { ended, wanted } of calls) {
    const got = await ended;
    if (got === wanted) right++;
    else assert.ok(got === failed || got.code === "released", `got ${got}, want ${wanted}`);
  }
  assert.ok(right > 50);
  assert.equal(sp.value, base);
});
