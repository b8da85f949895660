// fiberfill/webassembly: calls that all share the one stack of their guest (src/guest/onestack.ts). Run over
// web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";

// Like a Rust program, it grows its memory itself and exports no malloc.
const oneStack = `(module
  (import "env" "read" (func $read (param i32 i32))) (import "env" "call" (func $call (param i32)))
  (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
  (func (export "grow") (drop (memory.grow (i32.const 1))))
  (func (export "plain") (param $v i32)
    (memory.fill (i32.sub (global.get $sp) (i32.const 64)) (local.get $v) (i32.const 64)))
  (func (export "outer") (param $v i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (i32.store (local.get $frame) (local.get $v))
    (call $call (local.get $v))
    (memory.fill (i32.sub (global.get $sp) (i32.const 64)) (i32.const 255) (i32.const 64))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (i32.load (local.get $frame)))
  (func (export "tries") (param $v i32) (result i32) (local $frame i32) (local $deep i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (call $read (local.get $v) (local.get $frame))
    (global.set $sp (local.tee $deep (i32.sub (local.get $frame) (i32.const 64))))
    (i32.store (local.get $deep) (local.get $v))
    (block $thrown (try_table (catch_all $thrown) (call $call (local.get $v))))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (i32.add (i32.load (local.get $deep)) (i32.load (local.get $frame))))
  (func (export "far") (param $v i32) (param $gap i32) (result i32) (local $frame i32) (local $deep i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (call $read (local.get $v) (local.get $frame))
    (global.set $sp (local.tee $deep (i32.sub (local.get $frame) (local.get $gap))))
    (call $read (local.get $v) (local.get $deep))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (i32.add (i32.load (local.get $deep)) (i32.load (local.get $frame))))
  (func $sum (export "sum") (param $v i32) (param $frames i32) (result i32) (local $frame i32) (local $sum i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (i32.store (local.get $frame) (local.get $v))
    (if (i32.and (local.get $frames) (i32.const 1)) (then (call $call (local.get $v))))
    (call $read (local.get $v) (i32.add (local.get $frame) (i32.const 8)))
    (if (i32.ne (global.get $sp) (local.get $frame)) (then (unreachable)))
    (if (i32.ne (i32.load (local.get $frame)) (local.get $v)) (then (unreachable)))
    (local.set $sum (i32.load offset=8 (local.get $frame)))
    (if (local.get $frames) (then
      (local.set $sum (i32.add
        (local.get $sum) (call $sum (local.get $v) (i32.sub (local.get $frames) (i32.const 1)))))))
    (call $read (local.get $v) (i32.add (local.get $frame) (i32.const 12)))
    (if (i32.ne (i32.load (local.get $frame)) (local.get $v)) (then (unreachable)))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (i32.add (local.get $sum) (i32.load offset=12 (local.get $frame)))))`;

/**
 * An instance whose reads end, in any order, when the test says so. A read writes its result when it begins or, if
 * `late`, just before it ends.
 */
async function reader({ call = () => {}, late = false } = {}) {
  const waits = [];
  const { instance } = await WebAssembly.instantiate(assemble(oneStack), {
    env: {
      call,
      read: new WebAssembly.Suspending(async (v, at) => {
        const write = () => (new Int32Array(instance.exports.memory.buffer)[at >> 2] = v);
        if (!late) write();
        await new Promise((resolve) => waits.push(resolve));
        if (late) write();
      }),
    },
  });
  const end = async (n) => {
    waits.splice(n, 1)[0]();
    await new Promise(setImmediate);
    instance.exports.plain(255); // overwrites all that is unused
  };
  const endAll = async () => {
    while (waits.length > 0) await end(((waits.length * 7) % 5) % waits.length);
  };
  return { waits, end, endAll, exports: instance.exports, sum: WebAssembly.promising(instance.exports.sum) };
}

test("what is written to a local that another call's frames cover, but have not used, is there", async () => {
  const { waits, end, exports } = await reader({ late: true });
  const far = WebAssembly.promising(exports.far);
  const first = far(1, 256);
  const second = far(2, 16);
  await end(0);
  assert.equal(waits.length, 2); // the first waits deep below: its frames cover those of the second
  await end(0);
  await end(0);
  await end(0);
  assert.deepEqual(await Promise.all([first, second]), [2, 4]);
});

test("what an import writes to a caller's local before the call goes on is there, even on one stack", async () => {
  const { waits, end, sum } = await reader({ late: true });
  const alone = sum(7, 2);
  while (waits.length > 0) await end(0);
  assert.equal(await alone, 42);
  // Calls that end in the reverse order of their start.
  const outer = sum(10, 0);
  const inner = [1, 2, 3].map((v) => sum(v, 1));
  while (waits.length > 1) await end(waits.length - 1);
  assert.deepEqual(await Promise.all(inner), [4, 8, 12]);
  while (waits.length > 0) await end(0);
  assert.equal(await outer, 20);
  // In the order of their start, and in another order: each goes on with other calls' frames below its own.
  for (const next of [() => 0, (n) => (7 * n) % waits.length]) {
    const calls = [1, 2, 3, 4, 5].map((v) => sum(v, 0));
    for (let n = 0; waits.length > 0; n++) await end(next(n));
    assert.deepEqual(await Promise.all(calls), [2, 4, 6, 8, 10]);
  }
});

test("calls on one stack keep their frames in any order of events, and leave none when they are ended", async () => {
  let seed = 1;
  const random = (n) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  const calls = [];
  const start = (v, frames) => {
    const call = sum(v, frames);
    calls.push({ call, ended: call.catch((error) => error), wanted: v * 2 * (frames + 1) });
  };
  const { waits, exports, sum } = await reader({
    call(v) {
      if (calls.length < 300) start(v + 1, random(4));
    },
  });
  const { plain, __stack_pointer: sp } = exports;
  const base = sp.value;
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

test("a call on one stack keeps its frames when an import throws at once, even over others' frames", async () => {
  const call = new WebAssembly.Suspending(() => {
    throw new Error("at once");
  });
  const { exports, sum, endAll } = await reader({ call });
  const calls = [WebAssembly.promising(exports.tries)(1), sum(2, 0), sum(3, 0)];
  await endAll();
  assert.deepEqual(await Promise.all(calls), [2, 4, 6]);
  assert.equal(exports.__stack_pointer.value, 65536);
});

test("what is written for calls on one stack is there, whichever microtask others go on and end in", async () => {
  for (let microtasks = 0; microtasks < 12; microtasks++) {
    const waits = [];
    const { instance } = await WebAssembly.instantiate(assemble(oneStack), {
      env: {
        call() {},
        read: new WebAssembly.Suspending(
          (v, at) =>
            new Promise((end) =>
              waits.push({ end, write: () => (new Int32Array(exports.memory.buffer)[at >> 2] = v) }),
            ),
        ),
      },
    });
    const { exports } = instance;
    const tries = WebAssembly.promising(exports.tries);
    const calls = [tries(1), tries(2)];
    const [first, second] = waits;
    first.write();
    first.end();
    for (let n = 0; n < microtasks; n++) await undefined;
    second.write();
    calls.push(tries(3));
    await new Promise(setImmediate);
    waits[2].write();
    for (const { end } of waits) end();
    assert.deepEqual(await Promise.all(calls), [2, 4, 6], `after ${microtasks} microtasks`);
    assert.equal(exports.__stack_pointer.value, 65536);
  }
});

test("more calls can wait on one stack than it has room for", async () => {
  const { exports, sum, endAll } = await reader();
  const calls = Array.from({ length: 2500 }, (_, v) => sum(v, 0)); // of 32 bytes each
  await endAll();
  assert.deepEqual(
    await Promise.all(calls),
    calls.map((_, v) => 2 * v),
  );
  assert.equal(exports.__stack_pointer.value, 65536);
});

test("calls that are released while they wait on one stack leave no frames", async () => {
  const { exports, sum } = await reader();
  for (const call of [1, 2].map((v) => sum(v, 0))) {
    call.release();
    await assert.rejects(call, { code: "released" });
  }
  assert.equal(exports.__stack_pointer.value, 65536);
});

test("a call on one stack that begins below a plain call keeps its frames when that has returned", async () => {
  const inner = [];
  const { exports, sum, endAll } = await reader({ call: (v) => inner.push(sum(v, 0)) });
  for (const v of [1, 2, 3]) {
    assert.equal(exports.outer(v), v);
    exports.plain(255); // where outer was
  }
  await endAll();
  assert.deepEqual(await Promise.all(inner), [2, 4, 6]);
  assert.equal(exports.__stack_pointer.value, 65536);
});

test("below a plain call on one stack, what is written in a call's first wait is lost, later kept", async () => {
  let inner;
  const { exports, sum, endAll } = await reader({ late: true, call: (v) => (inner = sum(v, 0)) });
  exports.outer(5);
  await endAll();
  assert.equal(await inner, 0 + 5);
});

for (const [which, stack] of [
  ["has no stack", ""],
  ["has one that lies elsewhere", `(memory 1) (global $sp (export "__stack_pointer") (mut i32) (i32.const 1024))`],
]) {
  test(`calls of another instance, which ${which}, leave no frames on a library's one stack`, async () => {
    const { waits, end, exports, sum } = await reader({ late: true });
    const program = assemble(`(module (import "library" "sum" (func $sum (param i32 i32) (result i32))) ${stack}
      (func (export "run") (param i32) (result i32) (call $sum (local.get 0) (i32.const 2))))`);
    const { instance } = await WebAssembly.instantiate(program, { library: exports });
    const run = WebAssembly.promising(instance.exports.run);
    for (const call of [run, run, sum]) {
      const called = call(3, 2);
      while (waits.length > 0) await end(0);
      assert.equal(await called, 18);
      assert.equal(exports.__stack_pointer.value, 65536);
    }
    const released = run(3, 2);
    released.release();
    await assert.rejects(released, { code: "released" });
    assert.equal(exports.__stack_pointer.value, 65536);
  });
}
