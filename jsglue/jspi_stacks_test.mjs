// fiberfill/webassembly: the shadow stacks of calls, each its own, or all one. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly } from "../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";

/** Pushes v on the shadow stack, calls, and returns what is in its frame then plus what the call has returned; -1 if the pointer has moved. */
const keep = (name, call) => `(func (export "${name}") (param $v i32) (result i32) (local $frame i32) (local $result i32)
  (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
  (i32.store (local.get $frame) (local.get $v))
  (local.set $result (call ${call}))
  (if (i32.ne (global.get $sp) (local.get $frame)) (then (return (i32.const -1))))
  (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
  (i32.add (i32.load (local.get $frame)) (local.get $result)))`;

test("while a function that is no export waits on the one stack of a guest, plain calls leave its frames alone", async () => {
  const wat = `(module
    (import "env" "wait" (func $wait (param i32))) (import "env" "enter" (func $enter))
    (memory (export "memory") 2) (func (drop (memory.grow (i32.const 1)))) (global $sp (mut i32) (i32.const 65536)) (table (export "table") 1 funcref) (elem (i32.const 0) $hidden)
    (func $push (export "push") (param i32)
      (global.set $sp (i32.sub (global.get $sp) (i32.const 16)))
      (i32.store (global.get $sp) (local.get 0))
      (global.set $sp (i32.add (global.get $sp) (i32.const 16))))
    (func $hidden (param i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
      (i32.store (local.get $frame) (local.get 0))
      (call $wait (local.get 0))
      (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
      (i32.load (local.get $frame)))
    (func (export "outer") (param i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
      (i32.store (local.get $frame) (local.get 0))
      (call $enter)
      (call $push (i32.const 6))
      (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
      (i32.load (local.get $frame))))`;
  let inner;
  const { instance } = await WebAssembly.instantiate(assemble(wat), {
    env: {
      wait: new WebAssembly.Suspending(async (v) => {
        push(v + 1); // inside the import, when it begins
        await undefined;
        push(v + 2); // and while it waits
      }),
      enter: () => (inner = hidden(5)),
    },
  });
  const { push, outer, table } = instance.exports;
  const hidden = WebAssembly.promising(table.get(0));
  const call = hidden(1);
  push(4);
  assert.equal(await call, 1);
  assert.equal(outer(7), 7); // also what the caller goes on with
  assert.equal(await inner, 5);
});

test("functions that are no exports have shadow stacks of their own, beside those of fibers", async () => {
  const twice = `(param $v i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $v))
    (call $wait)
    (call $push (local.get $v))
    (call $wait)
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (i32.load (local.get $frame))`;
  const wat = `(module
    (import "env" "wait" (func $wait)) (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
    (table (export "table") 1 funcref) (elem (i32.const 0) $hidden)
    (func $push (export "push") (param i32)
      (global.set $sp (i32.sub (global.get $sp) (i32.const 64)))
      (memory.fill (global.get $sp) (local.get 0) (i32.const 64))
      (global.set $sp (i32.add (global.get $sp) (i32.const 64))))
    (func $hidden ${twice}) (func (export "own") ${twice}))`;
  const waits = [];
  const wait = new WebAssembly.Suspending(() => new Promise((resolve) => waits.push(resolve)));
  const { push, own, table, __stack_pointer: sp } = (await WebAssembly.instantiate(assemble(wat), { env: { wait } })).instance.exports;
  const functions = [table.get(0), own].map((fn) => WebAssembly.promising(fn));
  const calls = Array.from({ length: 12 }, (_, v) => functions[v % 2](v));
  assert.equal(sp.value, 65536);
  for (let n = 0; waits.length > 0; n++) {
    waits.splice((5 * n) % waits.length, 1)[0]();
    await new Promise(setImmediate);
    push(99);
  }
  assert.deepEqual(await Promise.all(calls), calls.map((_, v) => v));
  assert.equal(sp.value, 65536);
});

test("calls of an export have shadow stacks of their own also when another instance has exported it again", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (result i32))) (memory (export "memory") 2) (global $sp (mut i32) (i32.const 65536)) ${keep("keep", "$wait")})`);
  const { instance } = await WebAssembly.instantiate(guest, { env: { wait: new WebAssembly.Suspending(async () => 0) } });
  const again = assemble(`(module (import "guest" "keep" (func $keep (param i32) (result i32))) (memory (export "memory") 1) (export "keep" (func $keep)))`);
  const other = await WebAssembly.instantiate(again, { guest: instance.exports });
  assert.equal(other.instance.exports.keep, instance.exports.keep);
  const call = WebAssembly.promising(instance.exports.keep);
  assert.deepEqual(await Promise.all([1, 2, 3].map((v) => call(v))), [1, 2, 3]);
});

test("a guest whose stack pointer cannot be told is no worse off than in raw JSPI", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (param i64) (result i64))) (memory (export "memory") i64 1) (global $sp (mut i64) (i64.const 65536))
    (func (export "run") (param i64) (result i64) (local $frame i64)
      (global.set $sp (local.tee $frame (i64.sub (global.get $sp) (i64.const 16))))
      (i64.store (local.get $frame) (call $wait (local.get 0)))
      (global.set $sp (i64.add (local.get $frame) (i64.const 16)))
      (i64.load (local.get $frame))))`);
  const { instance } = await WebAssembly.instantiate(guest, { env: { wait: new WebAssembly.Suspending(async (v) => v + 1n) } });
  assert.equal(await WebAssembly.promising(instance.exports.run)(41n), 42n);
});

test("a guest that keeps its calls' stacks apart itself, as Pyodide does, has one stack, as in raw JSPI", async () => {
  const guest = assemble(`(module
    (import "env" "enter" (func $enter)) (import "env" "saveState" (func $save (result i32))) (import "env" "restoreState" (func $restore (param i32)))
    (import "env" "wait" (func $wait))
    (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "run") (param i32) (result i32) (local $frame i32) (local $state i32)
      (call $enter)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
      (i32.store (local.get $frame) (local.get 0))
      (local.set $state (call $save))
      (call $wait)
      (call $restore (local.get $state))
      (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
      (i32.load (local.get $frame))))`);
  // Each call begins where the first one has: what the others have there is copied out and comes back.
  let top;
  const states = [];
  const { instance } = await WebAssembly.instantiate(guest, {
    env: {
      enter: () => (sp.value = top ??= sp.value),
      saveState: () => states.push({ start: sp.value, copy: new Uint8Array(memory.buffer).slice(sp.value, stop) }) - 1,
      restoreState(k) {
        sp.value = states[k].start;
        new Uint8Array(memory.buffer).set(states[k].copy, sp.value);
      },
      wait: new WebAssembly.Suspending(async () => {}),
    },
  });
  const { memory, run, __stack_pointer: sp } = instance.exports;
  const stop = sp.value; // outside of all calls
  assert.deepEqual(await Promise.all([1, 2, 3].map((v) => WebAssembly.promising(run)(v))), [1, 2, 3]);
});

for (const [how, rest] of [["regions", ""], ["one stack that is copied", "(drop (memory.grow (i32.const 1)))"]]) {
  test(`a library that a program loads while it runs, which waits on the program's stack: ${how}`, async () => {
    const program = assemble(`(module
      (import "env" "wait" (func $wait (param i32) (result i32))) (import "env" "open" (func $open))
      (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536)) (table (export "table") 2 funcref)
      (func (export "grow") ${rest})
      ${keep("open", "$opened (local.get $v)")}
      (func $opened (param i32) (result i32) (call $open) (local.get 0))
      ${keep("own", "$wait (local.get $v)")}
      ${keep("both", "$twice (local.get $v)")}
      (func $twice (param i32) (result i32) (i32.add (call_indirect (param i32) (result i32) (local.get 0) (i32.const 0)) (call $wait (local.get 0)))))`);
    const library = assemble(`(module
      (import "env" "wait" (func $wait (param i32) (result i32))) (import "env" "memory" (memory 1)) (import "env" "__stack_pointer" (global $sp (mut i32)))
      ${keep("inner", "$wait (local.get $v)")})`);
    const waits = [];
    const env = { wait: new WebAssembly.Suspending((v) => new Promise((resolve) => waits.push(() => resolve(v)))) };
    let inner;
    env.open = () => {
      inner = new WebAssembly.Instance(new WebAssembly.Module(library), { env: { ...env, ...instance.exports } }).exports.inner;
      instance.exports.table.set(0, inner);
    };
    const { instance } = await WebAssembly.instantiate(program, { env });
    const { memory, open, own, both } = instance.exports;
    assert.equal(await WebAssembly.promising(open)(1), 2);
    const size = memory.buffer.byteLength;
    const calls = [10, 20, 30, 40, 50].flatMap((v) => [own, both, inner].map((fn) => WebAssembly.promising(fn)(v)));
    while (waits.length > 0) {
      waits.splice((waits.length * 7) % 5 % waits.length, 1)[0]();
      await new Promise(setImmediate);
    }
    assert.deepEqual(await Promise.all(calls), [10, 20, 30, 40, 50].flatMap((v) => [2 * v, 4 * v, 2 * v]));
    assert.equal(memory.buffer.byteLength, size); // the library has not taken memory of its own for stacks
  });
}

test("the size that an overflow asks for can be given where the guest is compiled", async () => {
  const bytes = assemble(`(module (import "env" "wait" (func $wait)) (memory 2) (global $other (mut i32) (i32.const 0)) (global $sp (mut i32) (i32.const 65536))
    (func (export "f") (param $n i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (local.get $n))))
      (i32.store (local.get $frame) (local.get $n))
      (call $wait)
      (global.set $sp (i32.add (local.get $frame) (local.get $n)))
      (i32.load (local.get $frame))))`);
  const pointer = 1;
  const imports = { env: { wait: new WebAssembly.Suspending(async () => {}) } };
  const call = (instance) => WebAssembly.promising(instance.exports.f)(80_000);
  const { message } = await call((await WebAssembly.instantiate(bytes, imports, { shadowStack: { pointer } })).instance).catch((error) => error);
  const size = Number(/shadowStack: { size: (\d+) }/.exec(message)[1]);
  const options = { shadowStack: { pointer, size } };
  const response = new Response(bytes, { headers: { "content-type": "application/wasm" } });
  for (const instance of [
    (await WebAssembly.instantiate(bytes, imports, options)).instance,
    (await WebAssembly.instantiateStreaming(response, imports, options)).instance,
    await WebAssembly.instantiate(await WebAssembly.compile(bytes, options), imports),
    new WebAssembly.Instance(new WebAssembly.Module(bytes, options), imports),
  ]) {
    assert.equal(await call(instance), 80_000);
  }
  await assert.rejects(WebAssembly.compile(bytes, { shadowStack: { size: 5 } }), { code: "bad-argument", message: /shadowStack.size/ });
});

// The program has been linked with a stack of a megabyte.
for (const [how, pages, size, allocator] of [
  ["memory that is grown", 65536, 1048576, ""],
  ["memory of which a thousand such stacks would take more than a quarter", 30017, 491536, ""], // 30,001 pages / 4 / 1,000
  ["memory with little room", 1016, 65536, ""],
  [
    "blocks of the program's allocator",
    65536,
    1048576,
    `(global $heap (mut i32) (i32.const 1048576)) (func (export "free") (param i32))
     (func (export "malloc") (param $n i32) (result i32) (local $at i32)
       (local.set $at (global.get $heap))
       (drop (memory.grow (i32.add (i32.shr_u (local.get $n) (i32.const 16)) (i32.const 1))))
       (global.set $heap (i32.add (local.get $at) (i32.and (i32.add (local.get $n) (i32.const 15)) (i32.const -16))))
       (local.get $at))`,
  ],
]) {
  test(`each call has as much shadow stack as the program, or as there is room for: in ${how}`, async () => {
    const guest = assemble(`(module
      (import "env" "wait" (func $wait (param i32) (result i32)))
      (memory (export "memory") 16 ${pages}) (global $sp (export "__stack_pointer") (mut i32) (i32.const 1048576))
      ${allocator}
      (func $deep (export "deep") (param $frames i32) (param $v i32) (result i32) (local $frame i32) (local $below i32)
        (if (i32.eqz (local.get $frames)) (then (return (call $wait (local.get $v)))))
        (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 1008))))
        (memory.fill (local.get $frame) (local.get $v) (i32.const 1008))
        (local.set $below (call $deep (i32.sub (local.get $frames) (i32.const 1)) (local.get $v)))
        (global.set $sp (i32.add (local.get $frame) (i32.const 1008)))
        (i32.add (local.get $below) (i32.load8_u (local.get $frame)))))`);
    const { instance } = await WebAssembly.instantiate(guest, { env: { wait: new WebAssembly.Suspending(async (v) => v) } });
    const deep = WebAssembly.promising(instance.exports.deep);
    const frames = Math.floor((size - 64) / 1008); // and the guard
    assert.deepEqual(await Promise.all([1, 2, 3].map((v) => deep(frames, v))), [1, 2, 3].map((v) => (frames + 1) * v));
    await assert.rejects(deep(frames + 1, 4), { code: "region-overflow", message: new RegExp(`than the ${size} bytes it has.* by the option shadowStack: \\{ size: \\d+ \\} of instantiate$`) });
  });
}

// As Rust's programs are: they grow their memory themselves and export no malloc.
const oneStack = `(module
  (import "env" "read" (func $read (param i32 i32))) (import "env" "call" (func $call (param i32)))
  (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
  (func (export "grow") (drop (memory.grow (i32.const 1))))
  (func (export "plain") (param $v i32) (memory.fill (i32.sub (global.get $sp) (i32.const 64)) (local.get $v) (i32.const 64)))
  (func (export "outer") (param $v i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (i32.store (local.get $frame) (local.get $v))
    (call $call (local.get $v))
    (memory.fill (i32.sub (global.get $sp) (i32.const 64)) (i32.const 255) (i32.const 64))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (i32.load (local.get $frame)))
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

/** An instance whose reads end, in any order, when the test says so. What they read they write as they begin, or, `late`, before they end. */
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
    instance.exports.plain(255); // below all that waits
  };
  const endAll = async () => {
    while (waits.length > 0) await end(((waits.length * 7) % 5) % waits.length);
  };
  return { waits, end, endAll, exports: instance.exports, sum: WebAssembly.promising(instance.exports.sum) };
}

test("what an import writes through a pointer to a local before the call goes on is there, also where all calls have one stack", async () => {
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
  // In the order of their start, and in another one: each goes on with the frames of others below it.
  for (const next of [() => 0, (n) => (7 * n) % waits.length]) {
    const calls = [1, 2, 3, 4, 5].map((v) => sum(v, 0));
    for (let n = 0; waits.length > 0; n++) await one(next(n));
    assert.deepEqual(await Promise.all(calls), [2, 4, 6, 8, 10]);
  }
});

test("calls on one stack that begin, wait, begin others and end in any order keep their frames, and those that are cancelled or released leave none", async () => {
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

test("more calls wait on one stack than it has room for", async () => {
  const { exports, sum, endAll } = await reader();
  const calls = Array.from({ length: 2500 }, (_, v) => sum(v, 0)); // of 32 bytes each
  await endAll();
  assert.deepEqual(await Promise.all(calls), calls.map((_, v) => 2 * v));
  assert.equal(exports.__stack_pointer.value, 65536);
});

test("calls that are released as they wait on one stack leave no frames", async () => {
  const { exports, sum } = await reader();
  for (const call of [1, 2].map((v) => sum(v, 0))) {
    call.release();
    await assert.rejects(call, { code: "released" });
  }
  assert.equal(exports.__stack_pointer.value, 65536);
});

test("a call on one stack that begins below a plain one keeps its frames when that goes on and has returned", async () => {
  const inner = [];
  const { exports, sum, endAll } = await reader({ call: (v) => inner.push(sum(v, 0)) });
  for (const v of [1, 2, 3]) {
    assert.equal(exports.outer(v), v);
    exports.plain(255); // where that one has been
  }
  await endAll();
  assert.deepEqual(await Promise.all(inner), [2, 4, 6]);
  assert.equal(exports.__stack_pointer.value, 65536);
});

test("what is written for a call on one stack that begins below a plain one is lost in its first wait, and there in its second", async () => {
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
  test(`calls of another instance, which ${which}, leave nothing on the one stack of a library`, async () => {
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
  });
}
