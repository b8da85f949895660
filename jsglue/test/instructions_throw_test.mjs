// The rules S of docs/rules.md: exceptions into and out of continuations, and traps. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONSUMED, instance, invalid, NULL, traps, UNHANDLED, valid } from "./instructions.mjs";
import { cont, func, I32, I64, module } from "./instructions.mjs";

// $victim asks, catches $error there, and returns what came, plus 100 if it was thrown. run begins it and ends it.
const VICTIM = `
  (func $victim (type $f_i)
    (block $caught (result i32)
      (try_table (result i32) (catch $error $caught) (suspend $ask (i32.const 1)))
      (return))
    (i32.add (i32.const 100)))
  (func $unwary (type $f_i) (suspend $ask (i32.const 2)))
  (func $begin (param $k (ref $k_i)) (result (ref null $ki_i)) (local $kept (ref null $ki_i))
    (block $h (result i32 (ref $ki_i)) (drop (resume $k_i (on $ask $h) (local.get $k))) (return (ref.null $ki_i)))
    (local.set $kept) (drop) (local.get $kept))`;

test("S-THROW-1: resume_throw takes the parameters of its tag, and the continuation; the tag has no results", () => {
  const types = [func([I32], [I64]), cont(0), func([], [I64]), func([I32]), func([I32], [I32])];
  const throwing = (tag, ...operands) =>
    module({ types, tags: [3, 4], functions: [[2, ...operands, 0xd0, 1, 0xe4, 1, tag, 0]] });
  valid(throwing(0, 0x41, 5)); // the continuation takes a number, and none is given to it
  invalid(throwing(0, 0x42, 5), /type mismatch/);
  invalid(throwing(0), /type mismatch/);
  invalid(throwing(1, 0x41, 5), /at byte/);
});

test("S-THROW-2: the exception is raised where the continuation stands; caught there, it goes on", () => {
  const { run } = instance(`${VICTIM}
    (func (export "run") (result i32)
      (resume_throw $ki_i $error (i32.const 7) (call $begin (cont.new $k_i (ref.func $victim)))))`);
  assert.equal(run(), 107);
});

test("S-THROW-3: not caught there, it is raised at the resume_throw, where it can be caught", () => {
  const { run } = instance(`${VICTIM}
    (func (export "run") (result i32)
      (block $caught (result i32)
        (try_table (result i32) (catch $error $caught)
          (resume_throw $ki_i $error (i32.const 7) (call $begin (cont.new $k_i (ref.func $unwary)))))
        (return))
      (i32.add (i32.const 1000)))`);
  assert.equal(run(), 1007);
});

test("S-THROW-4: a continuation that has not begun runs nothing: the exception is raised at the resume_throw", () => {
  const { run, seen } = instance(`
    (func $body (type $f) (call $see (i32.const 1)))
    (func (export "run") (result i32)
      (block $caught (result i32)
        (try_table (catch $error $caught) (resume_throw $k $error (i32.const 7) (cont.new $k (ref.func $body))))
        (unreachable)))`);
  assert.equal(run(), 7);
  assert.deepEqual(seen, []);
});

test("S-THROW-5: a null continuation, or one that has been consumed, traps", () => {
  const { run } = instance(`${VICTIM}
    (func (export "run") (param i32) (local $k (ref null $ki_i))
      (if (local.get 0) (then
        (local.set $k (call $begin (cont.new $k_i (ref.func $victim))))
        (drop (resume $ki_i (i32.const 1) (local.get $k)))))
      (drop (resume_throw $ki_i $error (i32.const 7) (local.get $k))))`);
  traps(() => run(0), NULL);
  traps(() => run(1), CONSUMED);
});

test("S-THROW-6: it consumes the continuation, and leaves nothing of it", () => {
  const { run } = instance(`${VICTIM}
    (func (export "run") (local $k (ref null $ki_i))
      (local.set $k (call $begin (cont.new $k_i (ref.func $unwary))))
      (block $caught (result i32)
        (try_table (catch $error $caught) (drop (resume_throw $ki_i $error (i32.const 7) (local.get $k))))
        (unreachable))
      (drop)
      (drop (resume $ki_i (i32.const 1) (local.get $k))))`);
  traps(run, CONSUMED);
});

test("S-THROW-7: its handlers count for what the continuation does then, as those of resume do", () => {
  const { run } = instance(
    `${VICTIM}
    (func $stubborn (type $f_i)
      (block $caught (result i32)
        (try_table (result i32) (catch $error $caught) (suspend $ask (i32.const 1)))
        (return))
      (i32.const 40) (i32.add) (suspend $ask))
    (func (export "run") (result i32) (local $k (ref null $ki_i)) (local $v i32)
      (block $h (result i32 (ref $ki_i))
        (return (resume_throw $ki_i $error (on $ask $h) (i32.const 2)
          (call $begin (cont.new $k_i (ref.func $stubborn))))))
      (local.set $k) (local.set $v)
      (i32.add (local.get $v) (resume $ki_i (i32.const 1000) (local.get $k))))`,
  );
  assert.equal(run(), 1042);
});

test("S-THROW-8: it passes through all frames and resumes inside of the continuation, innermost first", () => {
  const { run, seen } = instance(`
    (func $leaf (type $f) (block $h (try_table (catch_all $h) (drop (suspend $ask (i32.const 1)))))
      (call $see (i32.const 1)) (throw $tell (i32.const 5)))
    (func $middle (type $f)
      (block $h (result i32) (try_table (catch $tell $h) (resume $k (cont.new $k (ref.func $leaf)))) (unreachable))
      (call $see) (throw $error (i32.const 6)))
    (func (export "run") (result i32) (local $k (ref null $ki))
      (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $middle))) (unreachable))
      (local.set $k) (drop)
      (block $h (result i32)
        (try_table (catch $error $h) (resume_throw $ki $stop (local.get $k))) (unreachable)))`);
  assert.equal(run(), 6);
  assert.deepEqual(seen, [1, 5]);
});

// --- resume_throw_ref

const BY_REF = `${VICTIM}
  (func $made (param i32) (result exnref)
    (block $h (result i32 exnref) (try_table (catch_ref $error $h) (throw $error (local.get 0))) (unreachable))
    (call $second))
  (func $second (param i32 exnref) (result exnref) (local.get 1))`;

test("S-THROWREF-1: resume_throw_ref takes an exnref and the continuation, and throws that exception there", () => {
  const { run } = instance(`${BY_REF}
    (func (export "run") (result i32)
      (resume_throw_ref $ki_i (call $made (i32.const 9)) (call $begin (cont.new $k_i (ref.func $victim)))))`);
  assert.equal(run(), 109);
  const types = [func(), cont(0)];
  valid(module({ types, functions: [[0, 0xd0, 0x69, 0xd0, 1, 0xe5, 1, 0]] }));
  invalid(module({ types, functions: [[0, 0xd0, 0x6f, 0xd0, 1, 0xe5, 1, 0]] }), /type mismatch/);
  invalid(module({ types, functions: [[0, 0xd0, 1, 0xe5, 1, 0]] }), /at byte/);
});

test("S-THROWREF-2: it is the same exception, also one of JavaScript, when it comes out again", () => {
  const mine = new Error("mine");
  const fail = () => {
    throw mine;
  };
  const { run } = instance(
    `
    (import "env" "fail" (func $fail))
    ${VICTIM}
    (func (export "run") (local $x exnref)
      (block $h (result exnref) (try_table (catch_all_ref $h) (call $fail)) (unreachable))
      (local.set $x)
      (drop (resume_throw_ref $ki_i (local.get $x) (call $begin (cont.new $k_i (ref.func $victim))))))`,
    { env: { fail } },
  );
  assert.throws(run, (e) => e === mine);
});

test("S-THROWREF-3: a null exception traps, and so does a null or consumed continuation; its handlers count", () => {
  const { noException, noContinuation, consumed, handlers } = instance(`${BY_REF}
    (func $again (type $f_i) (block $h (try_table (catch_all $h) (return (suspend $ask (i32.const 0)))))
      (suspend $ask (i32.const 44)))
    (func (export "noException")
      (drop (resume_throw_ref $ki_i (ref.null exn) (call $begin (cont.new $k_i (ref.func $victim))))))
    (func (export "noContinuation") (local $k (ref null $ki_i))
      (drop (resume_throw_ref $ki_i (call $made (i32.const 1)) (local.get $k))))
    (func (export "consumed") (local $k (ref null $ki_i))
      (local.set $k (call $begin (cont.new $k_i (ref.func $victim))))
      (drop (resume $ki_i (i32.const 1) (local.get $k)))
      (drop (resume_throw_ref $ki_i (call $made (i32.const 1)) (local.get $k))))
    (func (export "handlers") (result i32)
      (block $h (result i32 (ref $ki_i))
        (return (resume_throw_ref $ki_i (on $ask $h) (call $made (i32.const 1))
          (call $begin (cont.new $k_i (ref.func $again))))))
      (drop))`);
  traps(noException, /null exception reference/);
  traps(noContinuation, NULL);
  traps(consumed, CONSUMED);
  assert.equal(handlers(), 44);
});

// --- exceptions out of a continuation

test("S-EXC-1: an exception that leaves the function is raised at the resume that runs it, to be caught there", () => {
  const { run } = instance(`
    (func $body (type $f) (drop (suspend $ask (i32.const 1))) (throw $error (i32.const 12)))
    (func (export "run") (result i32) (local $k (ref null $ki))
      (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $body))) (unreachable))
      (local.set $k) (drop)
      (block $h (result i32)
        (try_table (catch $error $h) (resume $ki (i32.const 1) (local.get $k))) (unreachable)))`);
  assert.equal(run(), 12);
});

test("S-EXC-2: it keeps its identity through continuations and out to JavaScript, as do those of JavaScript", () => {
  const mine = { any: "thing" };
  const fail = () => {
    throw mine;
  };
  const { ours, theirs, error } = instance(
    `
    (import "env" "fail" (func $fail))
    (tag $public (export "error") (param i32))
    (func $own (type $f) (throw $public (i32.const 3)))
    (func $foreign (type $f) (call $fail))
    (func $nested (type $f) (resume $k (cont.new $k (ref.func $own))))
    (func (export "ours") (resume $k (cont.new $k (ref.func $nested))))
    (func (export "theirs") (resume $k (cont.new $k (ref.func $foreign))))`,
    { env: { fail } },
  );
  assert.throws(theirs, (e) => e === mine);
  assert.throws(ours, (e) => e instanceof WebAssembly.Exception && e.is(error) && e.getArg(error, 0) === 3);
});

test("S-EXC-3: a try_table in the continuation does not see what its resumer throws while it is suspended", () => {
  const { run, seen } = instance(`
    (func $body (type $f)
      (block $h (try_table (catch_all $h) (drop (suspend $ask (i32.const 1))) (return))) (call $see (i32.const 66)))
    (func (export "run") (result i32) (local $k (ref null $ki))
      (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $body))) (unreachable))
      (local.set $k) (drop)
      (block $h (result i32) (try_table (catch $error $h) (throw $error (i32.const 4))) (unreachable))
      (resume $ki (i32.const 0) (local.get $k)))`);
  assert.equal(run(), 4);
  assert.deepEqual(seen, []);
});

test("S-EXC-4: a try_table around the resume does not see what the label of a handler throws", () => {
  const { run, error } = instance(`
    (tag $public (export "error"))
    (func $body (type $f) (suspend $stop))
    (func (export "run")
      (block $caught
        (block $h (result (ref $k))
          (try_table (catch_all $caught) (resume $k (on $stop $h) (cont.new $k (ref.func $body))))
          (unreachable))
        (drop) (throw $public))
      (unreachable))`);
  assert.throws(run, (e) => e instanceof WebAssembly.Exception && e.is(error));
});

test("S-EXC-5: a continuation that an exception has left is over", () => {
  const { run } = instance(`
    (global $k (mut (ref null $k)) (ref.null $k))
    (func $body (type $f) (throw $stop))
    (func (export "run") (global.set $k (cont.new $k (ref.func $body)))
      (block $h (try_table (catch $stop $h) (resume $k (global.get $k))))
      (resume $k (global.get $k)))`);
  traps(run, CONSUMED);
});

// --- traps

const TRAPPING = `
  (table (export "table") 2 funcref) (elem (i32.const 0) $divide $sound)
  (global $other (mut (ref null $ki_i)) (ref.null $ki_i))
  (func $body (type $f_i) (i32.add (i32.const 1) (suspend $ask (i32.const 1))))
  (func $bad (type $f) (block $h (try_table (catch_all $h)
    (drop (suspend $ask (i32.const 1))) (drop (i32.div_u (i32.const 1) (i32.const 0))))))
  (func $middle (type $f) (block $h (try_table (catch_all $h) (resume $k (cont.new $k (ref.func $bad))))))
  (func (export "prepare")
    (block $h (result i32 (ref $ki_i)) (drop (resume $k_i (on $ask $h) (cont.new $k_i (ref.func $body)))) (return))
    (global.set $other) (drop))
  (func $divide (export "divide") (local $k (ref null $ki))
    (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $middle))) (return))
    (local.set $k) (drop)
    (block $h (try_table (catch_all $h) (resume $ki (i32.const 0) (local.get $k)))))
  (func $sound (export "sound") (result i32) (resume $ki_i (i32.const 40) (global.get $other)))
  (func (export "asks") (drop (suspend $ask (i32.const 1))))`;

test("S-TRAP-1: a trap in a continuation ends all up to JavaScript: no handler and no catch in wasm sees it", () => {
  const { divide } = instance(TRAPPING);
  assert.throws(divide, (e) => e instanceof WebAssembly.RuntimeError && /divi/i.test(e.message));
});

test("S-TRAP-2: after a trap that JavaScript has caught the next call is sound, also one through a table", () => {
  const { divide, table, asks, prepare, sound } = instance(TRAPPING);
  for (let i = 0; i < 3; i++) {
    traps(i % 2 ? divide : table.get(0), /divi/i);
    traps(asks, UNHANDLED);
    prepare();
    assert.equal(i % 2 ? table.get(1)() : sound(), 41);
  }
});

test("S-TRAP-3: continuations that were not in the chain of what trapped keep their state", () => {
  const { divide, prepare, sound } = instance(TRAPPING);
  prepare();
  traps(divide, /divi/i);
  assert.equal(sound(), 41);
});

test("S-TRAP-4: an endless recursion in a continuation is JavaScript's error, and what follows is sound", () => {
  const { run, prepare, sound } = instance(`${TRAPPING}
    (func $endless (type $f_i) (i32.add (i32.const 1) (call $endless)))
    (func (export "run") (result i32) (resume $k_i (cont.new $k_i (ref.func $endless))))`);
  prepare();
  for (let i = 0; i < 3; i++) assert.throws(run, /stack|recursion/);
  assert.equal(sound(), 41);
});

test("S-TRAP-5: too many resumes inside of each other are a trap that says so, and what follows is sound", () => {
  const { nest, prepare, sound } = instance(`${TRAPPING}
    (func $deeper (type $fi_i)
      (if (i32.eqz (local.get 0)) (then (return (i32.const 5))))
      (i32.add (i32.const 1) (resume $ki_i (i32.sub (local.get 0) (i32.const 1)) (cont.new $ki_i (ref.func $deeper)))))
    (func (export "nest") (param i32) (result i32)
      (resume $ki_i (local.get 0) (cont.new $ki_i (ref.func $deeper))))`);
  prepare();
  assert.equal(nest(20_000), 20_005);
  traps(() => nest(1_000_000), /resumed inside of each other/);
  assert.equal(sound(), 41);
  assert.equal(nest(10), 15);
});
