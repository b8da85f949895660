// The rules S of docs/rules.md: how long continuations live, and what stands around them: JavaScript, other modules.
// Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "./assemble.mjs";
import { binary, CONSUMED, instance, lowering, traps, UNHANDLED } from "./instructions.mjs";

// --- lifetime

test("S-LIFE-1: resume, resume_throw, resume_throw_ref, switch and cont.bind each consume a reference", () => {
  const uses = {
    resume: `(resume $kt (ref.null $kt) (local.get $k))`,
    resume_throw: `(block $h (try_table (catch_all $h) (resume_throw $kt $stop (local.get $k))))`,
    resume_throw_ref: `(block $h (try_table (catch_all $h) (resume_throw_ref $kt (local.get $x) (local.get $k))))`,
    switch: `(global.set $other (local.get $k))
      (resume $kt (on $swap switch) (ref.null $kt) (cont.new $kt (ref.func $switches)))`,
    "cont.bind": `(drop (cont.bind $kt $k (ref.null $kt) (local.get $k)))`,
  };
  for (const [name, use] of Object.entries(uses)) {
    const { run } = instance(`
      (rec (type $task (func (param (ref null $kt)))) (type $kt (cont $task)))
      (tag $swap)
      (global $other (mut (ref null $kt)) (ref.null $kt))
      (func $nothing (type $task))
      (func $switches (type $task) (switch $kt $swap (global.get $other)) (drop))
      (func (export "run") (local $k (ref null $kt)) (local $x exnref)
        (block $h (result exnref) (try_table (catch_all_ref $h) (throw $stop)) (unreachable)) (local.set $x)
        (local.set $k (cont.new $kt (ref.func $nothing)))
        ${use}
        (resume $kt (ref.null $kt) (local.get $k)))`);
    traps(run, CONSUMED, name);
  }
});

const COUNTER = `
  (global $kept (mut (ref null $k)) (ref.null $k))
  (global $count (mut i32) (i32.const 0))
  (func $counts (type $f) (local $i i32)
    (loop $l
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (global.set $count (i32.add (global.get $count) (i32.const 10)))
      (suspend $stop)
      (call $see (i32.add (global.get $count) (local.get $i)))
      (br $l)))
  (func $step (param (ref null $k)) (result (ref $k)) (resume $k (on $stop 0) (local.get 0)) (unreachable))
  (func (export "begin") (global.set $kept (call $step (cont.new $k (ref.func $counts)))))
  (func (export "step") (global.set $kept (call $step (global.get $kept))))
  (func (export "set") (param i32) (global.set $count (local.get 0)))`;

test("S-LIFE-2: a suspended continuation outlives the call of the export that made it", () => {
  const { begin, step, seen } = instance(COUNTER);
  begin();
  step();
  step();
  assert.deepEqual(seen, [11, 22]);
});

test("S-LIFE-3: it holds frames, and no copy of memories, tables and globals: it sees what others change", () => {
  const { begin, step, set, seen } = instance(COUNTER);
  begin();
  set(500);
  step();
  assert.deepEqual(seen, [501]);
});

test("S-LIFE-5: a continuation may be kept in another one, and resumed there", () => {
  const { run, seen } = instance(`
    (func $inner (type $f) (call $see (i32.const 1)) (suspend $stop) (call $see (i32.const 2)))
    (func $step (param (ref null $k)) (result (ref null $k))
      (block $h (result (ref $k)) (resume $k (on $stop $h) (local.get 0)) (return (ref.null $k))))
    (func $outer (type $f) (local $k (ref null $k))
      (local.set $k (call $step (cont.new $k (ref.func $inner))))
      (drop (suspend $ask (i32.const 10)))
      (drop (call $step (local.get $k))))
    (func (export "run") (local $k (ref null $ki))
      (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $outer))) (unreachable))
      (local.set $k) (call $see) (resume $ki (i32.const 0) (local.get $k)))`);
  run();
  assert.deepEqual(seen, [1, 10, 2]);
});

// --- what stands around

const ASKS = `
  (tag $public (export "tag") (param i32) (result i32))
  (func $asks (export "asks") (type $f_i) (suspend $public (i32.const 5)))`;

// A module that calls "between" in a continuation, and answers the tag with 37 more.
const ANSWERS = `
  (import "env" "between" (func $between (type $f_i)))
  (import "m" "tag" (tag $public (param i32) (result i32)))
  (func (export "run") (result i32) (local $k (ref null $ki_i)) (local $v i32)
    (block $h (result i32 (ref $ki_i)) (return (resume $k_i (on $public $h) (cont.new $k_i (ref.func $between)))))
    (local.set $k) (local.set $v)
    (resume $ki_i (i32.add (local.get $v) (i32.const 37)) (local.get $k)))`;

test("S-HOST-1: exports are called plainly and return plainly, whatever goes on inside", () => {
  const m = instance(ASKS);
  assert.equal(instance(ANSWERS, { m, env: { between: m.asks } }).run(), 42);
});

test("S-HOST-2: JavaScript between a suspend and its handler is a barrier: a trap that says so, and no harm", () => {
  const m = instance(ASKS);
  const { run } = instance(ANSWERS, { m, env: { between: () => m.asks() } });
  traps(run, /unhandled tag: suspend with tag tag.*JavaScript/);
  const caught = [];
  const between = () => {
    try {
      return m.asks();
    } catch (error) {
      caught.push(error);
      return 3;
    }
  };
  assert.equal(instance(ANSWERS, { m, env: { between } }).run(), 3);
  assert.ok(caught[0] instanceof WebAssembly.RuntimeError);
});

test("S-HOST-3: JavaScript between may run continuations of its own", () => {
  const m = instance(ASKS);
  const inner = instance(ANSWERS, { m, env: { between: m.asks } });
  const outer = instance(ANSWERS, { m, env: { between: () => inner.run() + 1 } });
  assert.equal(outer.run(), 43);
});

test("S-HOST-4: a module without the instructions is a barrier, as the trap says; not with { lower: true }", () => {
  const m = instance(ASKS);
  const plain = assemble(`(module (import "m" "asks" (func $asks (result i32)))
    (func (export "between") (result i32) (i32.add (i32.const 100) (call $asks))))`);
  const between = (options) => new lowering.Instance(new lowering.Module(plain, options), { m }).exports.between;
  traps(instance(ANSWERS, { m, env: { between: between() } }).run, /unhandled tag.*not lowered/);
  assert.equal(instance(ANSWERS, { m, env: { between: between({ lower: true }) } }).run(), 142);
});

test("S-HOST-5: a start function may resume; a suspend that leaves it traps", () => {
  const start = (code) =>
    new lowering.Instance(new lowering.Module(binary(`
      (global (export "g") (mut i32) (i32.const 0))
      (func $body (type $f) (suspend $stop))
      (func $start ${code} (global.set 0 (i32.const 4)))
      (start $start)`)), { env: { see() {} } }).exports.g.value; // prettier-ignore
  const resuming = `(block $h (result (ref $k))
    (resume $k (on $stop $h) (cont.new $k (ref.func $body))) (unreachable))`;
  assert.equal(start(`${resuming} (drop)`), 4);
  assert.throws(() => start(`(suspend $stop)`), UNHANDLED);
});

test("S-HOST-7: a module without these instructions is the engine's, and nothing is changed in it", () => {
  const module = new lowering.Module(assemble(`(module (func (export "f") (result i32) (i32.const 3)))`));
  assert.equal(WebAssembly.Module.customSections(module, "fiberfill.lower").length, 0);
  assert.equal(new WebAssembly.Instance(module).exports.f(), 3);
});
