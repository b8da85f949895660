// Plain calls of guests with fibers of their own, on stacks of fiberfill's own: from wherever they come, all switches
// are inside the call. What each operation does is in proposals_plain_test.mjs.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";
import { guest as made, none } from "./proposals_guest.mjs";
import { rejection, until, waitingGuest } from "./waiting_guest.mjs";

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

const guest = (system) => made(system, { stacks: "unwind" });

/** How many microtasks pass while `fn` runs: one queues itself again and again. */
async function microtasks(fn) {
  await new Promise((resolve) => setImmediate(resolve)); // the scheduler has all its time
  let count = 0;
  let on = true;
  const tick = () => {
    if (on && ++count < 10_000) queueMicrotask(tick);
  };
  tick();
  await fn();
  on = false;
  return count;
}

describe("a switch from fiber to fiber takes no microtask", () => {
  for (const [system, name] of [
    ["fibers1", "sum"],
    ["fibers2", "sum"],
    ["cont", "sum"],
  ]) {
    test(`J-COST-1 ${system}: in a call of fiberfill's exports`, async () => {
      const g = await guest(system);
      await g.exports[name](1);
      const few = await microtasks(() => g.exports[name](2));
      assert.equal(await microtasks(() => g.exports[name](2000)), few);
    });

    test(`J-COST-1 ${system}: a plain call returns at once`, async () => {
      const g = await guest(system);
      const { [name]: plain } = g.instance.exports;
      assert.equal(plain(4), await g.exports[name](4));
      none(g);
    });
  }
});

test("whoever calls: JavaScript, an import of the guest's own, a table", async () => {
  const g = await guest("fibers1");
  const { exports } = g.instance;
  assert.equal(exports.sum(4), 10);
  assert.equal(exports.host(), 1); // by way of an import, which calls an export
  const inTable = assemble(`(module
    (import "guest" "sum" (func $sum (param i32) (result i32)))
    (table (export "table") 1 funcref)
    (elem (i32.const 0) $sum))`);
  const { table } = new WebAssembly.Instance(new WebAssembly.Module(inTable), { guest: exports }).exports;
  assert.equal(table.get(0)(4), 10);
});

test("fibers of other guests call it, plain or not, and so do those that it has entered itself", async () => {
  const [outer, inner] = [await guest("fibers1"), await guest("fibers1")];
  const sums = [];
  outer.onNote = () => sums.push(inner.instance.exports.sum(sums.length + 2));
  assert.equal(outer.instance.exports.switches(0), 7);
  assert.equal(await outer.exports.switches(0), 7);
  assert.deepEqual(
    sums,
    sums.map((_, i) => ((i + 2) * (i + 3)) / 2),
  );
  assert.equal(sums.length, 12);
  const waiting = await waitingGuest();
  waiting.onWait = (n) => inner.instance.exports.sum(n);
  assert.equal(await waiting.exports.wait(4), 10);
  none(outer);
  none(inner);
});

test("fibers go on in the next call, whichever kind it is of", async () => {
  const g = await guest("fibers1");
  const { keep, more } = g.instance.exports;
  keep(3);
  assert.equal(await g.exports.more(1), 3);
  assert.equal(more(1), 2);
  assert.equal(await g.exports.more(1), 1);
  assert.equal(more(1), -1);
  await g.exports.keep(1);
  assert.equal(more(0), 2);
  for (const fiber of g.fibers()) fiber.release();
  none(g);
});

test("what waits in a fiber of a plain call is refused, by name; what answers is not", async () => {
  const g = await guest("fibers1");
  const { end, sum } = g.instance.exports;
  for (let i = 0; i < 2; i++) {
    assert.throws(
      () => end(3),
      (error) => error.code === "cannot-suspend" && error.message.includes("import env.wait has to wait"),
    );
    none(g);
    assert.equal(sum(4), 10);
  }
  g.onWait = () => 41;
  assert.equal(end(3), 41);
  const fiber = g.exports.end(3);
  g.onWait = undefined;
  await until(() => g.gates.length > 2);
  g.gates.at(-1).resolve(5);
  assert.equal(await fiber, 5);
  none(g);
});

test("one at a time: beside a call that has entered fibers and waits, it is refused; a queued one waits", async () => {
  const g = await guest("fibers1");
  const { sum } = g.instance.exports;
  const queued = g.exports.sum(5);
  assert.equal(sum(4), 10);
  assert.equal(await queued, 15);
  const fiber = g.exports.end(3);
  await until(() => g.gates.length === 1);
  assert.throws(
    () => sum(4),
    (error) =>
      error.code === "cannot-suspend" && error.message.includes(`fiber ${fiber.name}, which has done so, is not over`),
  );
  g.gates[0].resolve(7);
  assert.equal(await fiber, 7);
  assert.equal(sum(4), 10);
  g.fibers().forEach((each) => each.release());
});

test("an operation below JavaScript that a fiber has called is a trap, and ends the chain", async () => {
  const g = await guest("fibers1");
  const { sum, switches } = g.instance.exports;
  g.onNote = () => sum(1);
  assert.throws(
    () => switches(0),
    (error) =>
      error instanceof WebAssembly.RuntimeError &&
      /fibers1\.resume refused: host frames on the stack/.test(error.message),
  );
  g.onNote = undefined;
  for (const fiber of g.fibers()) fiber.release();
  assert.equal(sum(4), 10);
});

test("after a trap everything is sound: other fibers, calls of both kinds, and the shadow stack", async () => {
  const g = await guest("fibers1");
  const { end, keep, more, sum } = g.instance.exports;
  keep(1);
  for (let i = 0; i < 3000; i++) {
    assert.throws(() => end(1), WebAssembly.RuntimeError);
    await null;
  }
  assert.equal(g.fibers().length, 1);
  assert.equal(more(0), 2);
  assert.equal(sum(4), 10);
  assert.equal(await g.exports.sum(4), 10);
  g.fibers()[0].release();
  none(g);
});

test("what a fiber calls outside of its own stack has its frames below those of the plain call", async () => {
  // run keeps a word in its frame. Its fiber enters another one, for which malloc is called, and calls JavaScript.
  const bytes = assemble(`(module
    (import "fiberfill/fibers1" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32)))
    (import "env" "wait" (func $wait))
    (import "env" "call" (func $call))
    (memory (export "memory") 32)
    (table (export "functions") 1 funcref)
    (elem (i32.const 0) $body)
    (global $__stack_pointer (export "sp") (mut i32) (i32.const 65536))
    (global $heap (mut i32) (i32.const 65536))
    (func $frame (param $n i32) (result i32)
      (global.set $__stack_pointer (i32.sub (global.get $__stack_pointer) (local.get $n)))
      (global.get $__stack_pointer))
    (func $drop (param $n i32)
      (global.set $__stack_pointer (i32.add (global.get $__stack_pointer) (local.get $n))))
    (func $fill (export "fill")
      (memory.fill (call $frame (i32.const 4096)) (i32.const 255) (i32.const 4096))
      (call $drop (i32.const 4096)))
    (func (export "malloc") (param $n i32) (result i32)
      (call $fill)
      (global.set $heap (i32.add (global.get $heap) (i32.and (i32.add (local.get $n) (i32.const 15)) (i32.const -16))))
      (i32.sub (global.get $heap) (local.get $n)))
    (func (export "free") (param i32))
    (func $body (param $self i32) (param $more i32) (param $event i32) (result i32)
      (local $mine i32)
      (local.set $mine (call $frame (i32.const 128)))
      (if (local.get $more) (then
        (drop (call $spawn (i32.const 0) (i32.const 0) (i32.const 0) (local.get $mine) (i32.const 0)))))
      (call $wait) (call $call)
      (call $drop (i32.const 128))
      (i32.const 0))
    (func (export "run") (result i32)
      (local $mine i32)
      (i32.store (local.tee $mine (call $frame (i32.const 128))) (i32.const 42))
      (drop (call $spawn (i32.const 0) (i32.const 0) (i32.const 1) (i32.add (local.get $mine) (i32.const 16))
        (i32.const 0)))
      (if (i32.ne (global.get $__stack_pointer) (local.get $mine)) (then (unreachable)))
      (call $drop (i32.const 128))
      (i32.load (local.get $mine))))`);
  const { suspending } = fiberfill;
  const fill = () => instance.exports.fill();
  const imports = { env: { wait: suspending(fill), call: fill } };
  const options = { stacks: "unwind", shadowStack: { size: 16384, pointer: "sp" } };
  const { instance, exports, stacks } = await fiberfill.instantiate(bytes, imports, options);
  assert.deepEqual([stacks.source, stacks.pointer], ["allocator", "sp"]);
  for (let i = 0; i < 3; i++) {
    assert.equal(instance.exports.run(), 42);
    assert.equal(await exports.run(), 42);
  }
});

test("an exception reaches the caller: the same object, and one of wasm's own", async () => {
  const g = await guest("fibers1");
  assert.throws(
    () => g.instance.exports.end(0),
    (error) => error === g.errors[0],
  );
  none(g);
});

test("what an exception has left on the stack of an unrelated instance is no frame of a plain call", async () => {
  const g = await guest("fibers1");
  const other = assemble(`(module
    (import "env" "fails" (func $fails))
    (import "env" "waits" (func $waits))
    (memory (export "memory") 3)
    (table (export "functions") 1 funcref)
    (global $__stack_pointer (export "sp") (mut i32) (i32.const 65536))
    (func (export "wait") (call $waits))
    (func (export "fail")
      (global.set $__stack_pointer (i32.sub (global.get $__stack_pointer) (i32.const 64)))
      (call $fails)))`);
  let fails = () => {
    throw new Error("other");
  };
  const env = { fails: () => fails(), waits: fiberfill.suspending(async () => {}) };
  const { instance } = await fiberfill.instantiate(other, { env }, { stacks: "unwind" });
  assert.throws(instance.exports.fail, /other/);
  for (let i = 0; i < 3; i++) assert.equal(g.instance.exports.switches(1), 8);
  // Frames of that instance, which lie below the plain call, stay where they are.
  const { sp } = instance.exports;
  fails = () => {
    const low = sp.value;
    const seen = [];
    g.onNote = () => seen.push(sp.value);
    assert.equal(g.instance.exports.switches(1), 8);
    assert.deepEqual([...new Set([low, ...seen, sp.value])], [low]);
    assert.notEqual(seen.length, 0);
  };
  instance.exports.fail();
  none(g);
});

test("an operation below a fiber of another guest, which has begun inside, is refused", async () => {
  // A's fiber calls B, whose fiber calls A again: what would be left is the stack of B's fiber.
  const twoGuests = (name) => `(module
    (import "fiberfill/fibers1" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32)))
    (import "env" "call" (func $call))
    (memory (export "memory") 32)
    (table (export "functions") 2 funcref)
    (elem (i32.const 0) $calls $returns)
    (global $__stack_pointer (export "sp") (mut i32) (i32.const 65536))
    (global $heap (mut i32) (i32.const 65536))
    (func (export "malloc") (param $n i32) (result i32)
      (global.set $heap (i32.add (global.get $heap) (i32.and (i32.add (local.get $n) (i32.const 15)) (i32.const -16))))
      (i32.sub (global.get $heap) (local.get $n)))
    (func (export "free") (param i32))
    (func $frame (param $n i32) (result i32)
      (global.set $__stack_pointer (i32.sub (global.get $__stack_pointer) (local.get $n)))
      (global.get $__stack_pointer))
    (func $drop (param $n i32)
      (global.set $__stack_pointer (i32.add (global.get $__stack_pointer) (local.get $n))))
    (func $body (param $body i32)
      (local $mine i32)
      (local.set $mine (call $frame (i32.const 128)))
      (drop (call $spawn (i32.const 0) (local.get $body) (i32.const 0) (local.get $mine) (i32.const 0)))
      (call $drop (i32.const 128)))
    (func $calls (param i32 i32 i32) (result i32) (call $call) (i32.const 0))
    (func $returns (param i32 i32 i32) (result i32) (i32.const 0))
    (func (export "${name}") (call $body (i32.const 0)))
    (func (export "back") (call $body (i32.const 1))))`;
  const table = new WebAssembly.Instance(
    new WebAssembly.Module(
      assemble(`(module
        (table (export "table") 1 funcref)
        (func (export "call") (call_indirect (i32.const 0))))`),
    ),
  ).exports;
  const options = { stacks: "unwind", shadowStack: { pointer: "sp" } };
  const b = await fiberfill.instantiate(assemble(twoGuests("b")), { env: table }, options);
  const a = await fiberfill.instantiate(assemble(twoGuests("a")), { env: { call: b.instance.exports.b } }, options);
  table.table.set(0, a.instance.exports.back);
  for (let i = 0; i < 3; i++) {
    assert.throws(a.instance.exports.a, (error) => error.code === "cannot-suspend");
    await assert.rejects(a.exports.a(), (error) => error.code === "cannot-suspend");
    b.instance.exports.back();
    a.instance.exports.back();
  }
  assert.deepEqual([a.fibers(), b.fibers()], [[], []]);
});

test("a call of fiberfill's exports from inside a plain call comes later", async () => {
  const g = await guest("fibers1");
  const later = [];
  g.onNote = () => later.push(g.exports.sum(later.length));
  assert.equal(g.instance.exports.switches(1), 8);
  assert.deepEqual(await Promise.all(later), [0, 1, 3, 6, 10]);
  none(g);
});

test("where nothing can be entered it says so: in a start function", async () => {
  const starts = assemble(`(module
    (import "fiberfill/fibers1" "resume" (func $resume (param i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (table (export "functions") 1 funcref)
    (func $start (drop (call $resume (i32.const 1) (i32.const 64) (i32.const 0))))
    (start $start))`);
  const error = await rejection(fiberfill.instantiate(starts, {}, { stacks: "unwind" }));
  assert.equal(error.code, "cannot-suspend");
});

test("an operation that needs the guest's memory ends a start function, which cannot catch that", async () => {
  const starts = assemble(`(module
    (import "fiberfill/fibers1" "table" (func $table (param i32 i32) (result i32)))
    (memory (export "memory") 1)
    (table (export "functions") 1 funcref)
    (func $start (block $caught (try_table (catch_all $caught) (drop (call $table (i32.const 64) (i32.const 0))))))
    (start $start))`);
  for (const stacks of hasJSPI ? ["jspi", "unwind"] : ["unwind"]) {
    const error = await rejection(fiberfill.instantiate(starts, {}, { stacks }));
    assert.match(error.message, /fibers1\.table refused: a start function has called it/);
  }
});
