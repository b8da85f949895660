// fiberfill/webassembly: the shadow stacks of calls. (Those that share one: onestack_test.mjs.) Run over web/dist/npm
// in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly, shadowStacks } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";

/**
 * Pushes v on the shadow stack, calls, and returns what is then in its frame plus what the call returned; -1 if the
 * pointer has moved.
 */
const keep = (
  name,
  call,
) => `(func (export "${name}") (param $v i32) (result i32) (local $frame i32) (local $result i32)
  (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
  (i32.store (local.get $frame) (local.get $v))
  (local.set $result (call ${call}))
  (if (i32.ne (global.get $sp) (local.get $frame)) (then (return (i32.const -1))))
  (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
  (i32.add (i32.load (local.get $frame)) (local.get $result)))`;

test("while a function that is not an export waits on a guest's only stack, plain calls spare its frames", async () => {
  const wat = `(module
    (import "env" "wait" (func $wait (param i32))) (import "env" "enter" (func $enter))
    (memory (export "memory") 2) (func (drop (memory.grow (i32.const 1)))) (global $sp (mut i32) (i32.const 65536))
    (table (export "table") 1 funcref) (elem (i32.const 0) $hidden)
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
        push(v + 1); // inside the import, when the wait begins
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
  assert.equal(outer(7), 7); // and so does the caller
  assert.equal(await inner, 5);
});

test("functions that are not exports have shadow stacks of their own, beside those of fibers", async () => {
  const twice = `(param $v i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $v))
    (call $wait)
    (call $push (local.get $v))
    (call $wait)
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (i32.load (local.get $frame))`;
  const wat = `(module
    (import "env" "wait" (func $wait)) (memory (export "memory") 2)
    (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
    (table (export "table") 1 funcref) (elem (i32.const 0) $hidden)
    (func $push (export "push") (param i32)
      (global.set $sp (i32.sub (global.get $sp) (i32.const 64)))
      (memory.fill (global.get $sp) (local.get 0) (i32.const 64))
      (global.set $sp (i32.add (global.get $sp) (i32.const 64))))
    (func $hidden ${twice}) (func (export "own") ${twice}))`;
  const waits = [];
  const wait = new WebAssembly.Suspending(() => new Promise((resolve) => waits.push(resolve)));
  const {
    push,
    own,
    table,
    __stack_pointer: sp,
  } = (await WebAssembly.instantiate(assemble(wat), { env: { wait } })).instance.exports;
  const functions = [table.get(0), own].map((fn) => WebAssembly.promising(fn));
  const calls = Array.from({ length: 12 }, (_, v) => functions[v % 2](v));
  assert.equal(sp.value, 65536);
  for (let n = 0; waits.length > 0; n++) {
    waits.splice((5 * n) % waits.length, 1)[0]();
    await new Promise(setImmediate);
    push(99);
  }
  assert.deepEqual(
    await Promise.all(calls),
    calls.map((_, v) => v),
  );
  assert.equal(sp.value, 65536);
});

test("calls of an export have their own shadow stacks even if another instance exports it again", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (result i32))) (memory (export "memory") 2)
    (global $sp (mut i32) (i32.const 65536)) ${keep("keep", "$wait")})`);
  const { instance } = await WebAssembly.instantiate(guest, {
    env: { wait: new WebAssembly.Suspending(async () => 0) },
  });
  const again = assemble(
    `(module (import "guest" "keep" (func $keep (param i32) (result i32))) (memory (export "memory") 1)
      (export "keep" (func $keep)))`,
  );
  const other = await WebAssembly.instantiate(again, { guest: instance.exports });
  assert.equal(other.instance.exports.keep, instance.exports.keep);
  const call = WebAssembly.promising(instance.exports.keep);
  assert.deepEqual(await Promise.all([1, 2, 3].map((v) => call(v))), [1, 2, 3]);
});

test("a guest whose stack pointer is unknown is no worse off than on raw JSPI", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (param i64) (result i64))) (memory (export "memory") i64 1)
    (global $sp (mut i64) (i64.const 65536))
    (func (export "run") (param i64) (result i64) (local $frame i64)
      (global.set $sp (local.tee $frame (i64.sub (global.get $sp) (i64.const 16))))
      (i64.store (local.get $frame) (call $wait (local.get 0)))
      (global.set $sp (i64.add (local.get $frame) (i64.const 16)))
      (i64.load (local.get $frame))))`);
  const { instance } = await WebAssembly.instantiate(guest, {
    env: { wait: new WebAssembly.Suspending(async (v) => v + 1n) },
  });
  assert.equal(await WebAssembly.promising(instance.exports.run)(41n), 42n);
});

test("a guest that keeps its calls' stacks apart itself, as Pyodide does, has one stack, as on raw JSPI", async () => {
  const guest = assemble(`(module
    (import "env" "enter" (func $enter)) (import "env" "saveState" (func $save (result i32)))
    (import "env" "restoreState" (func $restore (param i32)))
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
  // Each call begins where the first one did: what other calls have there is copied out and put back.
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

for (const [how, rest] of [
  ["regions", ""],
  ["one stack that is copied", "(drop (memory.grow (i32.const 1)))"],
]) {
  test(`a library that a running program loads waits on the program's stack: ${how}`, async () => {
    const program = assemble(`(module
      (import "env" "wait" (func $wait (param i32) (result i32))) (import "env" "open" (func $open))
      (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
      (table (export "table") 2 funcref)
      (func (export "grow") ${rest})
      ${keep("open", "$opened (local.get $v)")}
      (func $opened (param i32) (result i32) (call $open) (local.get 0))
      ${keep("own", "$wait (local.get $v)")}
      ${keep("both", "$twice (local.get $v)")}
      (func $twice (param i32) (result i32)
        (i32.add
          (call_indirect (param i32) (result i32) (local.get 0) (i32.const 0)) (call $wait (local.get 0)))))`);
    const library = assemble(`(module
      (import "env" "wait" (func $wait (param i32) (result i32))) (import "env" "memory" (memory 1))
      (import "env" "__stack_pointer" (global $sp (mut i32)))
      ${keep("inner", "$wait (local.get $v)")})`);
    const waits = [];
    const env = { wait: new WebAssembly.Suspending((v) => new Promise((resolve) => waits.push(() => resolve(v)))) };
    let inner;
    env.open = () => {
      inner = new WebAssembly.Instance(new WebAssembly.Module(library), { env: { ...env, ...instance.exports } })
        .exports.inner;
      instance.exports.table.set(0, inner);
    };
    const { instance } = await WebAssembly.instantiate(program, { env });
    const { memory, open, own, both } = instance.exports;
    assert.equal(await WebAssembly.promising(open)(1), 2);
    const size = memory.buffer.byteLength;
    const calls = [10, 20, 30, 40, 50].flatMap((v) => [own, both, inner].map((fn) => WebAssembly.promising(fn)(v)));
    while (waits.length > 0) {
      waits.splice(((waits.length * 7) % 5) % waits.length, 1)[0]();
      await new Promise(setImmediate);
    }
    assert.deepEqual(
      await Promise.all(calls),
      [10, 20, 30, 40, 50].flatMap((v) => [2 * v, 4 * v, 2 * v]),
    );
    assert.equal(memory.buffer.byteLength, size); // the library has not taken memory of its own for stacks
  });
}

test("the size that an overflow asks for can be given where the guest is compiled", async () => {
  const bytes = assemble(`(module (import "env" "wait" (func $wait)) (memory 2)
    (global $other (mut i32) (i32.const 0)) (global $sp (mut i32) (i32.const 65536))
    (func (export "f") (param $n i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (local.get $n))))
      (i32.store (local.get $frame) (local.get $n))
      (call $wait)
      (global.set $sp (i32.add (local.get $frame) (local.get $n)))
      (i32.load (local.get $frame))))`);
  const pointer = 1;
  const imports = { env: { wait: new WebAssembly.Suspending(async () => {}) } };
  const call = (instance) => WebAssembly.promising(instance.exports.f)(80_000);
  const { message } = await call(
    (await WebAssembly.instantiate(bytes, imports, { shadowStack: { pointer } })).instance,
  ).catch((error) => error);
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
  await assert.rejects(WebAssembly.compile(bytes, { shadowStack: { size: 5 } }), {
    code: "bad-argument",
    message: /shadowStack.size/,
  });
});

// The program was linked with a stack of one megabyte.
for (const [how, pages, size, allocator] of [
  ["memory that is grown", 65536, 1048576, ""],
  ["memory of which a thousand such stacks would fill over a quarter", 30017, 491536, ""], // 30,001 pages / 4 / 1,000
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
  test(`each call has as much shadow stack as the program, or as much as fits: in ${how}`, async () => {
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
    const { instance } = await WebAssembly.instantiate(guest, {
      env: { wait: new WebAssembly.Suspending(async (v) => v) },
    });
    const deep = WebAssembly.promising(instance.exports.deep);
    const frames = Math.floor((size - 64) / 1008); // less the guard
    assert.deepEqual(
      await Promise.all([1, 2, 3].map((v) => deep(frames, v))),
      [1, 2, 3].map((v) => (frames + 1) * v),
    );
    await assert.rejects(deep(frames + 1, 4), {
      code: "region-overflow",
      message: new RegExp(
        `than the ${size} bytes it has.* by the option shadowStack: \\{ size: \\d+ \\} of instantiate$`,
      ),
    });
  });
}

test("an overflow is reported even for a call that waited in another instance while others ran", async () => {
  const waits = [];
  const env = { wait: new WebAssembly.Suspending(() => new Promise((resolve) => waits.push(resolve))) };
  const library = assemble(`(module (import "env" "wait" (func $wait)) (func (export "through") (call $wait)))`);
  const program = assemble(`(module (import "env" "wait" (func $wait)) (import "env" "through" (func $through))
    (memory (export "memory") 2) (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "fill") (param $n i32) (local $frame i32)
      (local.set $frame (i32.sub (global.get $sp) (local.get $n)))
      (call $through)
      (memory.fill (local.get $frame) (i32.const 255) (local.get $n))))`);
  const { through } = (await WebAssembly.instantiate(library, { env })).instance.exports;
  const { instance } = await WebAssembly.instantiate(program, { env: { ...env, through } });
  const fill = WebAssembly.promising(instance.exports.fill);
  const [deep, flat] = [fill(65536 - 32), fill(16)]; // into its own guard
  waits[0]();
  await assert.rejects(deep, { code: "region-overflow" });
  waits[1]();
  assert.equal(await flat, undefined);
});

/** Runs three overlapping calls; returns how their stacks are kept, whether they are right, and what was said. */
async function three(memory, options) {
  const wat = `(module (import "env" "wait" (func $wait (param i32) (result i32))) ${memory}
    (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
    ${keep("keep", "$wait (local.get $v)")})`;
  const wait = new WebAssembly.Suspending(async () => 0);
  const { instance } = await WebAssembly.instantiate(assemble(wat), { env: { wait } }, options);
  const call = WebAssembly.promising(instance.exports.keep);
  const said = [];
  const { warn } = console;
  console.warn = (text) => said.push(text);
  const calls = [1, 2, 3].map((v) => call(v));
  const right = (await Promise.all(calls)).every((v, i) => v === i + 1);
  console.warn = warn;
  return { ...calls[0].stacks, right, said };
}

test(
  "where calls cannot have regions they overlap on the one stack, which is told once, unless it was asked " + "for",
  async () => {
    const cannot = '(memory (export "memory") 2 2)';
    const { source, said, right } = await three(cannot);
    assert.deepEqual([source, right], ["copy", true]);
    assert.equal(said.length, 1);
    assert.match(
      said[0],
      /overlap on its one stack, as on raw JSPI, fiber keep#\d+ the first: .* its memory cannot grow/,
    );
    const asked = await three(cannot, { shadowStack: { regions: "copy" } });
    assert.deepEqual([asked.source, asked.right, asked.said], ["copy", true, []]);
    const apart = await three('(memory (export "memory") 2)');
    assert.deepEqual([apart.source, apart.right, apart.said], ["grow", true, []]);
  },
);

test("calls that are asked to run one after another do so, and answer as they would alone", async () => {
  const { source, right, said } = await three('(memory (export "memory") 2)', { shadowStack: { regions: "serial" } });
  assert.deepEqual([source, right, said], ["serial", true, []]);
});

test("a choice for all modules that are compiled from now on", async () => {
  shadowStacks({ pointer: null });
  const { source, pointer, why } = await three('(memory (export "memory") 2)');
  assert.deepEqual([source, pointer], ["none", undefined]);
  assert.match(why, /said to have none/);
  const own = await three('(memory (export "memory") 2)', { shadowStack: { size: 4096 } });
  assert.deepEqual([own.source, own.size], ["grow", 4096], "a compilation's own choice goes before");
  shadowStacks();
  assert.equal((await three('(memory (export "memory") 2)')).source, "grow");
  assert.throws(() => shadowStacks({ size: 1 }), { code: "bad-argument" });
});
