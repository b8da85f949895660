// The frame of JavaScript below what an export resumes (polyfill/lower/ground.go): nobody sees that it is there. Run
// over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { binary, instance, lowering, traps, UNHANDLED } from "./instructions.mjs";

const ASKS = `
  (func $asks (type $fi_i) (i32.add (suspend $ask (local.get 0)) (suspend $ask (i32.const 1))))
  (func $answer (param $v i32) (result i32) (local $k (ref null $ki_i)) (local $asked i32)
    (local.set $k (cont.new $ki_i (ref.func $asks)))
    (loop $l
      (block $h (result i32 (ref $ki_i))
        (return (resume $ki_i (on $ask $h) (local.get $v) (local.get $k))))
      (local.set $k) (local.set $asked)
      (local.set $v (i32.mul (local.get $asked) (i32.const 10)))
      (br $l))
    (unreachable))`;

test("a trap behind what an export has resumed leaves nothing behind", () => {
  const { late, lonely, answer } = instance(`${ASKS}
    (func (export "answer") (param i32) (result i32) (call $answer (local.get 0)))
    (func (export "late") (param i32) (result i32) (drop (call $answer (local.get 0))) (unreachable))
    (func (export "lonely") (result i32) (suspend $ask (i32.const 1)))`);
  for (let i = 0; i < 3; i++) {
    assert.equal(answer(3), 40);
    assert.throws(() => late(3), WebAssembly.RuntimeError);
    traps(lonely, UNHANDLED);
  }
});

test("arguments and results of an export are what they were, of every kind", () => {
  const { all, only, table } = instance(`${ASKS}
    (table (export "table") 1 funcref)
    (elem (table 0) (i32.const 0) func $all)
    (func $all (export "all") (export "only")
      (param i32 i64 f32 f64 externref anyref funcref)
      (result i32 i64 f32 f64 externref anyref funcref)
      (drop (call $answer (i32.const 1)))
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5) (local.get 6))`);
  const given = [-1, 2n ** 62n, 0.5, Math.PI, { a: 1 }, "text", all];
  assert.deepEqual(all(...given), given);
  assert.equal(all, only);
  assert.deepEqual(table.get(0)(...given), given);
});

test("an export that another module calls in a continuation is suspended with its caller", () => {
  const ask = new lowering.Tag({ parameters: ["i32"] });
  const tags = `(import "env" "ask" (tag $ask (param i32)))`;
  const make = (body, env) =>
    new lowering.Instance(new lowering.Module(binary(body, tags)), { env: { see() {}, ask, ...env } }).exports;
  const inner = make(`
    (func $ends (type $fi_i) (i32.add (local.get 0) (i32.const 1)))
    (func (export "asks") (type $fi_i)
      (suspend $ask (local.get 0))
      (resume $ki_i (local.get 0) (cont.new $ki_i (ref.func $ends))))`);
  const outer = make(
    `(import "env" "asks" (func $asks (type $fi_i)))
    (func $calls (type $fi_i) (i32.mul (call $asks (local.get 0)) (i32.const 2)))
    (func (export "run") (param i32) (result i32) (local $k (ref null $k_i)) (local $v i32)
      (block $h (result i32 (ref $k_i))
        (return (resume $ki_i (on $ask $h) (local.get 0) (cont.new $ki_i (ref.func $calls)))))
      (local.set $k) (local.set $v)
      (i32.add (i32.mul (local.get $v) (i32.const 100)) (resume $k_i (local.get $k))))`,
    { asks: inner.asks },
  );
  assert.equal(outer.run(7), 716);
  assert.equal(outer.run(7), 716);
  traps(() => inner.asks(7), UNHANDLED);
});

// Engines without JSPI have nothing that could be in the way.
if ("Suspending" in WebAssembly) {
  test("JSPI suspends an export that resumes, where it is in no continuation", async () => {
    const env = { see() {}, wait: new WebAssembly.Suspending(async (v) => v + 1) };
    const module = new lowering.Module(
      binary(`${ASKS}
        (import "env" "wait" (func $wait (param i32) (result i32)))
        (func (export "waits") (param i32) (result i32) (call $answer (call $wait (call $answer (local.get 0)))))`),
      { stacks: "unwind" },
    );
    const { waits } = new lowering.Instance(module, { env }).exports;
    assert.equal(await WebAssembly.promising(waits)(3), 420);
  });
}
