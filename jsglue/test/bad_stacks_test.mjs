// What stacks of fiberfill's own make of modules that they cannot have, or that look as if they could not: each error
// names the cause, and nothing is left behind. Run over web/dist/npm.

import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import "./without_jspi.mjs";
import { assemble } from "./assemble.mjs";

const fiberfill = await import("../../web/dist/npm/esm/index.js");
const { WebAssembly: ours } = await import("../../web/dist/npm/esm/webassembly.js");
const plain = globalThis.WebAssembly;

const ask = async (n) => n * 3;
const ASK = `(import "env" "ask" (func $ask (param i32) (result i32)))`;
const GUEST = assemble(`(module ${ASK}
  (func (export "f") (param i32) (result i32) (i32.add (call $ask (local.get 0)) (i32.const 1))))`);

/** Both ways to an instance whose import env.ask waits: what its f returns, or the error. */
const ways = {
  async instantiate(bytes) {
    return (await fiberfill.instantiate(bytes, { env: { ask: fiberfill.suspending(ask) } })).exports.f;
  },
  async namespace(bytes) {
    const { exports } = new ours.Instance(new ours.Module(bytes), { env: { ask: new ours.Suspending(ask) } });
    return ours.promising(exports.f);
  },
};

afterEach(async () => {
  assert.deepEqual(fiberfill.fibers(), [], "no fiber is left");
  for (const way of Object.values(ways)) assert.equal(await (await way(GUEST))(2), 7, "the next call is right");
});

const refuses = (promise, name, text) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, name);
    assert.match(error.message, text);
    return true;
  });

/** The module as fiberfill has rewritten it. */
async function rewritten(bytes) {
  let found;
  const { compile } = plain;
  plain.compile = (source, ...rest) => compile.call(plain, (found = source), ...rest);
  try {
    await ours.compile(bytes, { lower: true });
  } finally {
    plain.compile = compile;
  }
  return new Uint8Array(found);
}

test("a module that was rewritten already is refused where its imports wait, and runs where they do not", async () => {
  const bytes = await rewritten(GUEST);
  await refuses(ways.instantiate(bytes), "FiberError", /rewritten already.*as its compiler made it/);
  await refuses(ways.namespace(bytes), "LinkError", /import env\.ask cannot.*wait.*rewritten.*as its compiler made it/);
  const env = { ask: (n) => n };
  assert.equal(new ours.Instance(new ours.Module(bytes), { env }).exports.f(2), 3);
});

test("a module that another version has rewritten is refused, with both numbers", async () => {
  const bytes = await rewritten(GUEST);
  const at = new TextDecoder("latin1").decode(bytes).indexOf('{"version":');
  bytes[at + 11] = "9".charCodeAt();
  await refuses(ways.instantiate(bytes), "FiberError", /rewritten already/);
  await refuses(ways.namespace(bytes), "LinkError", /another version \(9, this is \d+\)/);
});

test("a module that Asyncify has rewritten is a module like any other", async () => {
  const bytes = assemble(
    `(module ${ASK} (memory 1)
      (func (export "f") (param i32) (result i32) (i32.add (call $ask (local.get 0)) (i32.const 1))))`,
    ["asyncify"],
  );
  for (const way of Object.values(ways)) {
    const f = await way(bytes);
    assert.deepEqual(await Promise.all([f(1), f(2), f(3)]), [4, 7, 10]);
  }
});

test("an import that waits, and that nobody calls", async () => {
  const bytes = assemble(`(module ${ASK} (func (export "f") (param i32) (result i32) (local.get 0)))`);
  for (const way of Object.values(ways)) assert.equal(await (await way(bytes))(4), 4);
});

test("a guest whose every function may wait, through a table and each other", async () => {
  const functions = Array.from(
    { length: 40 },
    (_, k) => `(func $f${k} (type $t)
      (if (i32.eqz (local.get 0)) (then (return (call $ask (i32.const ${k})))))
      (i32.add (call_indirect (type $t) (i32.sub (local.get 0) (i32.const 1))
        (i32.rem_u (i32.add (local.get 0) (i32.const ${k * 7})) (i32.const 40)))
        (call $f${(k + 1) % 40} (i32.shr_u (local.get 0) (i32.const 1)))))`,
  );
  const names = functions.map((_, k) => `$f${k}`).join(" ");
  const bytes = assemble(`(module (type $t (func (param i32) (result i32))) ${ASK}
    (table 40 funcref) (elem (i32.const 0) ${names}) ${functions.join("\n")} (export "f" (func $f0)))`);
  const expected = new plain.Instance(new plain.Module(bytes), { env: { ask: (n) => n * 3 } }).exports.f(9);
  for (const way of Object.values(ways)) assert.equal(await (await way(bytes))(9), expected);
});

test("a wait in a start function is refused, with the import's name", async () => {
  const bytes = assemble(`(module ${ASK} (func $s (drop (call $ask (i32.const 1)))) (start $s)
    (func (export "f") (param i32) (result i32) (i32.const 1)))`);
  await assert.rejects(
    ways.instantiate(bytes),
    (error) => error.code === "cannot-suspend" && /env\.ask.*start function/.test(error.message),
  );
  await assert.rejects(ways.namespace(bytes), (error) => error instanceof ours.SuspendError);
});

test("a result that nobody can make is refused, with its place", async () => {
  const bytes = assemble(`(module ${ASK} (func $none (result (ref none)) (drop (call $ask (i32.const 1))) (unreachable))
    (func (export "f") (param i32) (result i32) (drop (call $none)) (i32.const 1)))`);
  const text = /at byte \d+: .*a reference of which no program can make one/;
  await refuses(ways.instantiate(bytes), "FiberError", text);
  await refuses(ways.namespace(bytes), "CompileError", text);
});

test("a module that imports from the driver's name is refused", async () => {
  const bytes = assemble(`(module ${ASK} (import "fiberfill:lower" "mine" (func))
    (func (export "f") (param i32) (result i32) (call $ask (local.get 0))))`);
  const env = { ask: fiberfill.suspending(ask) };
  await refuses(
    fiberfill.instantiate(bytes, { env, "fiberfill:lower": { mine() {} } }),
    "FiberError",
    /at byte \d+: .*imports from fiberfill:lower/,
  );
});

test("a large module is told before it is rewritten, with its size, the time and the remedy", async () => {
  const large = new Uint8Array(GUEST.length + 10_000_000);
  // A custom section behind the module: 9,999,995 bytes, with an empty name.
  large.set([...GUEST, 0, 0xfb, 0xac, 0xe2, 0x04, 0]);
  const told = mock.method(console, "warn", () => {});
  try {
    assert.equal(await (await ways.instantiate(large))(2), 7);
    assert.equal(told.mock.callCount(), 1);
    assert.match(told.mock.calls[0].arguments.join(" "), /module of 10 MB.*up to 4 seconds.*JSPI.*Node 25/);
  } finally {
    told.mock.restore();
  }
});

test("another instance of a guest compiles nothing, and of 100 guests each has modules of its own", async () => {
  const module = await fiberfill.compile(GUEST, { stacks: "unwind" });
  const call = async (n) => {
    const { exports } = await fiberfill.instantiate(module, { env: { ask: fiberfill.suspending(ask) } });
    return exports.f(n);
  };
  assert.equal(await call(1), 4);
  let compiled = 0;
  const { Module } = plain;
  plain.Module = new Proxy(Module, { construct: (target, args) => (compiled++, Reflect.construct(target, args)) });
  try {
    assert.equal(await call(3), 10);
  } finally {
    plain.Module = Module;
  }
  assert.equal(compiled, 0);
  for (let k = 0; k < 100; k++) {
    const params = "(param i32)".repeat(k + 1);
    const guest = assemble(`(module (import "env" "ask" (func $ask ${params} (result i32)))
      (func (export "f") ${params} (result i32)
        (call $ask ${Array.from({ length: k + 1 }, (_, i) => `(local.get ${i})`).join(" ")})))`);
    const sum = async (...all) => all.reduce((sum, n) => sum + n, 0);
    const { exports } = await fiberfill.instantiate(guest, { env: { ask: fiberfill.suspending(sum) } });
    assert.equal(await exports.f(...Array.from({ length: k + 1 }, (_, i) => i)), (k * (k + 1)) / 2);
  }
});
