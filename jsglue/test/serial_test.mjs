// Calls of a guest that run one after another: a call begins when the one before it is over, or inside it. Run over
// web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "./assemble.mjs";
import * as fiberfill from "../../web/dist/npm/esm/index.js";

const guest = (more = "") => `(module
  (import "env" "wait" (func $wait (param i32)))
  (memory (export "memory") 2)
  (global $sp (mut i32) (i32.const 65536))
  (func (export "keep") (param $v i32) (param $n i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (i32.sub (global.get $sp) (i32.const 16)) (local.get $n))))
    (i32.store (local.get $frame) (local.get $v))
    (call $wait (local.get $v))
    (if (i32.ne (global.get $sp) (local.get $frame)) (then (return (i32.const -1))))
    (local.set $v (i32.load (local.get $frame)))
    (global.set $sp (i32.add (local.get $frame) (i32.add (local.get $n) (i32.const 16))))
    (local.get $v))
  ${more})`;

const imports = (wait) => ({ env: { wait: fiberfill.suspending(wait) } });
const serial = { shadowStack: { regions: "serial" } };

/** A guest whose import does with v what `how` has under v; returns its exports. */
async function instance(how, more) {
  const { exports } = await fiberfill.instantiate(
    assemble(guest(more)),
    imports((v) => how[v]?.(exports)),
    serial,
  );
  return exports;
}

const ended = async (calls) =>
  (await Promise.allSettled(calls)).map(({ value, reason }) => value ?? reason.code ?? reason);

/** Later, after this many turns of the event loop. */
const turns = async (n) => {
  for (let i = 0; i < n; i++) await new Promise(setImmediate);
};

test(
  "serial calls: one that is cancelled before its turn never starts, and a trap or an exception lets the " +
    "next one begin, on the whole stack",
  async () => {
    const more = `(func (export "trap") (global.set $sp (i32.const 16)) (unreachable))
    (func (export "throw") (param i32 i32) (result i32)
      (global.set $sp (i32.const 16)) (call $wait (local.get 0)) (i32.const 0))
    (func (export "text") (param $at i32) (param $n i32) (result i32)
      (call $wait (i32.const 1))
      (i32.load8_u (local.get $at)))`;
    const { exports } = await fiberfill.instantiate(
      assemble(guest(more)),
      imports(async (v) => (v < 0 ? assert.fail("mine") : undefined)),
      { shadowStack: { regions: "serial" } },
    );
    const calls = [
      exports.keep(1, 0),
      exports.trap(),
      exports.keep(2, 60000),
      exports.throw(-1, 0),
      exports.keep(3, 60000),
      exports.text("abc"),
      exports.keep(4, 60000),
    ];
    const cancelled = exports.keep(5, 0);
    cancelled.cancel("reason");
    const ends = await Promise.allSettled([...calls, cancelled]);
    assert.deepEqual(
      ends.map(({ value, reason }) => value ?? reason.code ?? reason.message ?? reason),
      [1, "trap", 2, "ERR_ASSERTION", 3, 97, 4, "reason"],
    );
    assert.equal(cancelled.state, "cancelled");
    assert.deepEqual(fiberfill.fibers(), []);
  },
);

test("a call that an import makes, and waits for, begins inside the call of that import", async () => {
  for (const call of [
    (exports) => exports.keep(2, 100),
    async (exports) => assert.equal(await exports.keep(2, 100), 2),
    (exports) => fiberfill.arena(() => exports.keep(2, 100)),
    (exports) => Promise.all([exports.keep(2, 100), exports.keep(3, 200), exports.keep(2, 300)]),
  ]) {
    const { keep } = await instance({ 1: call, 2: () => turns(2), 3: async () => {} });
    assert.deepEqual(await ended([keep(1, 16), keep(4, 0), keep(1, 32)]), [1, 4, 1]);
    assert.deepEqual(fiberfill.fibers(), []);
  }
});

test("calls begin inside of calls that began inside of others, and those behind them wait", async () => {
  const order = [];
  const down = (v) => async (exports) => {
    order.push(v);
    if (v > 1) assert.equal(await exports.keep(v - 1, v), v - 1);
    order.push(-v);
  };
  const { keep } = await instance({ 1: down(1), 2: down(2), 3: down(3), 4: down(4) });
  assert.deepEqual(await ended([keep(4, 0), keep(1, 0)]), [4, 1]);
  assert.deepEqual(order, [4, 3, 2, 1, -1, -2, -3, -4, 1, -1]);
});

// Found by the generator of wirings, seed 777479.
test("a call begins inside one that waits for it by way of another guest", async () => {
  let first;
  const second = await fiberfill.instantiate(
    assemble(guest()),
    imports((v) => first.keep(v + 1, 64)),
  );
  first = await instance({ 1: () => second.exports.keep(1, 0), 2: () => turns(1) });
  assert.deepEqual(await ended([first.keep(1, 16), first.keep(3, 0)]), [1, 3]);
  first = await instance({ 1: async () => void (await second.exports.keep(1, 0)), 2: () => turns(1) });
  const last = first.keep(1, 16);
  await turns(5);
  const names = fiberfill.fibers().map(({ state, waitsFor }) => [state, waitsFor]);
  assert.deepEqual(names.sort(), [
    ["queued", undefined],
    ["waiting", "env.wait"],
    ["waiting", "env.wait"],
  ]);
  last.cancel("nobody can know that the import waits for it");
  await ended([last]);
  await turns(5);
  assert.deepEqual(fiberfill.fibers(), []);
});

test("frames of the outer call stay in their place, however many they are", async () => {
  const inner = (exports) => assert.equal(new Int32Array(exports.memory.buffer)[(65536 - 16 - 30000) / 4], 1);
  const { keep } = await instance({ 1: (exports) => exports.keep(2, 30000), 2: inner });
  assert.equal(await keep(1, 30000), 1);
});

test("a call that an import makes and does not wait for begins after the call of the import", async () => {
  let later;
  const { keep } = await instance({ 1: (exports) => void (later = exports.keep(2, 0)) });
  assert.equal(await keep(1, 0), 1);
  assert.equal(await later, 2);
});

test("a call ends, told, if the one that it began inside goes on first", async () => {
  let inner;
  let begins;
  const third = new Promise((resolve) => (begins = resolve));
  const how = {
    1: (exports) => ((inner = exports.keep(2, 100)), turns(3)), // it waits for something else
    2: (exports) => exports.keep(3, 100), // which begins when the outer call is over
    3: () => new Promise((end) => begins({ end })),
  };
  const { keep } = await instance(how);
  const outer = keep(1, 16);
  assert.equal(await outer, 1, "frames of the outer call");
  await assert.rejects(inner, {
    code: "deadlock",
    message: /^fiber keep#\d+ was called while fiber keep#\d+ waited, and keep#\d+ goes on before it is over/,
  });
  (await third).end();
  assert.equal(await keep(4, 60000), 4);
  assert.deepEqual(fiberfill.fibers(), []);
});

test("a call that waits inside another may be cancelled, trap or throw; the other goes on", async () => {
  const more = `(func (export "trap") (global.set $sp (i32.const 16)) (unreachable))
    (func (export "late") (call $wait (i32.const 2)) (global.set $sp (i32.const 16)) (unreachable))
    (func (export "throw") (global.set $sp (i32.const 16)) (call $wait (i32.const -1)))`;
  for (const [name, code] of [
    ["trap", "trap"],
    ["late", "trap"],
    ["throw", "mine"],
  ]) {
    let inner;
    const how = {
      1: (exports) => (inner = exports[name]()).catch(() => {}),
      2: () => turns(1),
      "-1": () => Promise.reject("mine"),
    };
    const exports = await instance(how, more);
    assert.deepEqual(await ended([exports.keep(1, 16), exports.keep(4, 60000)]), [1, 4]);
    assert.deepEqual(await ended([inner]), [code]);
  }
  for (const which of ["inner", "outer"]) {
    const calls = {};
    const how = { 1: (exports) => (calls.inner = exports.keep(2, 16)).catch(() => {}), 2: () => new Promise(() => {}) };
    const { keep } = await instance(how);
    calls.outer = keep(1, 16);
    const next = keep(4, 60000);
    await turns(2);
    calls[which].cancel("enough");
    assert.deepEqual(
      await ended([calls.outer, calls.inner, next]),
      which === "inner" ? [1, "enough", 4] : ["enough", "deadlock", 4],
    );
  }
  assert.deepEqual(fiberfill.fibers(), []);
});

test("a call that would wait for itself is refused", async () => {
  let self;
  const { keep } = await instance({ 1: () => self });
  self = keep(1, 0);
  await assert.rejects(self, { code: "deadlock", message: /keep#\d+ -> keep#\d+$/ });
});

test("two guests over one memory, each with a pointer to the same stack, take turns with each other", async () => {
  const memory = new WebAssembly.Memory({ initial: 2 });
  const text = guest().replace('(memory (export "memory") 2)', '(import "env" "memory" (memory 2))');
  const { env } = imports(async () => {});
  const instances = [];
  for (let i = 0; i < 2; i++)
    instances.push(await fiberfill.instantiate(assemble(text), { env: { ...env, memory } }, serial));
  const calls = Array.from({ length: 8 }, (_, v) => instances[v % 2].exports.keep(v, 0));
  assert.deepEqual(await Promise.all(calls), [0, 1, 2, 3, 4, 5, 6, 7]);
});
