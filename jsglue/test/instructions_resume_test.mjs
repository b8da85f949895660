// The rules S of docs/rules.md: creating, resuming, suspending, handlers, binding. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { binary, CONSUMED, instance, invalid, NULL, traps, UNHANDLED, valid } from "./instructions.mjs";
import { CONT, cont, func, I32, I64, module, ref, refNull } from "./instructions.mjs";

const NO_CONT = [0xd0, 1]; // ref.null 1

// --- cont.new

test("S-NEW-1: cont.new makes a suspended continuation of a function; nothing of the function runs", () => {
  const { run, seen } = instance(`
    (func $body (call $see (i32.const 1)))
    (func (export "run") (drop (cont.new $k (ref.func $body))) (call $see (i32.const 2)))`);
  run();
  assert.deepEqual(seen, [2]);
});

test("S-NEW-2: a null function traps", () => {
  const { run } = instance(`
    (global $none (ref null $f) (ref.null $f))
    (func (export "run") (drop (cont.new $k (global.get $none))))`);
  traps(run, /null/);
});

test("S-NEW-3: the operand is a function of the type that the continuation type names, the result not nullable", () => {
  valid(binary(`(func (param (ref null $fi)) (result (ref $ki)) (cont.new $ki (local.get 0)))`));
  invalid(binary(`(func (param (ref $f)) (result (ref $ki)) (cont.new $ki (local.get 0)))`), /type mismatch/);
  invalid(binary(`(func (param funcref) (result (ref $ki)) (cont.new $ki (local.get 0)))`), /type mismatch/);
});

test("S-NEW-4: each cont.new makes another computation, also of the same function", () => {
  const { run } = instance(
    `
    (func $body (type $fi_i) (local $i i32)
      (local.set $i (suspend $ask (local.get 0)))
      (i32.add (local.get 0) (local.get $i)))
    (func $begin (param i32) (result (ref $ki_i)) (local $k (ref null $ki_i))
      (block $h (result i32 (ref $ki_i))
        (resume $ki_i (on $ask $h) (local.get 0) (cont.new $ki_i (ref.func $body))) (unreachable))
      (local.set $k) (drop) (ref.as_non_null (local.get $k)))
    (func (export "run") (result i32) (local $a (ref null $ki_i)) (local $b (ref null $ki_i))
      (local.set $a (call $begin (i32.const 10))) (local.set $b (call $begin (i32.const 200)))
      (i32.sub (resume $ki_i (i32.const 1) (local.get $b)) (resume $ki_i (i32.const 5) (local.get $a))))`,
  );
  assert.equal(run(), 201 - 15);
});

test("S-NEW-5: the function may be an import, also one of JavaScript", () => {
  const { run, seen } = instance(`
    (func (export "run") (resume $ki (i32.const 4) (cont.new $ki (ref.func $see))))`);
  run();
  assert.deepEqual(seen, [4]);
});

// --- resume

test("S-RESUME-1: the operands are what the continuation takes, and itself; the results are what it returns", () => {
  // 0: a function of two i32 and an i64, which returns an i32; 1: its continuation; 2: who resumes it.
  const types = [func([I32, I32, I64], [I32]), cont(0), func([], [I32])];
  const resuming = (...operands) => module({ types, functions: [[2, ...operands, ...NO_CONT, 0xe3, 1, 0]] });
  const [i32, i64] = [
    [0x41, 5],
    [0x42, 5],
  ];
  valid(resuming(...i32, ...i32, ...i64));
  invalid(resuming(...i32, ...i64), /type mismatch/);
  invalid(resuming(...i32, ...i64, ...i32), /type mismatch/);
  invalid(resuming(...i32, ...i32, ...i32, ...i64), /operands are left/);
  invalid(module({ types, functions: [[2, ...i32, ...i32, ...i64, 0xe3, 1, 0]] }), /type mismatch/);
});

test("S-RESUME-2: the first resume calls the function with the values; a return is the end of the continuation", () => {
  const { run } = instance(`
    (func $body (type $fii_i) (i32.sub (local.get 0) (local.get 1)))
    (func (export "run") (result i32)
      (i32.mul (i32.const 10) (resume $kii_i (i32.const 7) (i32.const 2) (cont.new $kii_i (ref.func $body)))))`);
  assert.equal(run(), 50);
});

const ONCE = `
  (func $body (type $f_i) (i32.add (i32.const 1000) (suspend $ask (i32.const 7))))
  (global $kept (mut (ref null $ki_i)) (ref.null $ki_i))
  (func (export "begin") (result i32)
    (block $h (result i32 (ref $ki_i))
      (return (resume $k_i (on $ask $h) (cont.new $k_i (ref.func $body)))))
    (global.set $kept))
  (func (export "resume") (param i32) (result i32) (resume $ki_i (local.get 0) (global.get $kept)))`;

test("S-RESUME-3: a later resume goes on behind the suspend, whose results are the values", () => {
  const { begin, resume } = instance(ONCE);
  assert.equal(begin(), 7);
  assert.equal(resume(5), 1005);
});

test("S-RESUME-4: a null continuation traps", () => {
  const { resume } = instance(ONCE);
  traps(() => resume(1), NULL);
});

test("S-RESUME-5: a continuation is consumed by resume; a second use of whatever copy traps", () => {
  const { begin, resume } = instance(ONCE);
  begin();
  resume(1);
  for (let i = 0; i < 2; i++) traps(() => resume(1), CONSUMED);
});

test("S-RESUME-6: a continuation cannot be resumed inside of itself", () => {
  const { run } = instance(`
    (global $self (mut (ref null $k)) (ref.null $k))
    (func $body (resume $k (global.get $self)))
    (func (export "run") (global.set $self (cont.new $k (ref.func $body))) (resume $k (global.get $self)))`);
  traps(run, CONSUMED);
});

test("S-RESUME-7: whoever resumes is the parent; it may be another each time", () => {
  const { run, seen } = instance(`
    (func $body (type $f)
      (drop (suspend $ask (i32.const 1))) (drop (suspend $ask (i32.const 2))))
    (func $other (param (ref $ki)) (local $k (ref null $ki))
      (block $h (result i32 (ref $ki)) (resume $ki (on $ask $h) (i32.const 0) (local.get 0)) (return))
      (local.set $k) (call $see (i32.add (i32.const 200))) (resume $ki (i32.const 0) (local.get $k)))
    (func (export "run") (local $k (ref null $ki))
      (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $body))) (return))
      (local.set $k) (call $see (i32.add (i32.const 100))) (call $other (ref.as_non_null (local.get $k))))`);
  run();
  assert.deepEqual(seen, [101, 202]);
});

test("S-RESUME-8: when the function returns, the instruction behind the resume executes, with the results", () => {
  const { run, seen } = instance(
    `
    (func $body (type $f_i) (drop (suspend $ask (i32.const 1))) (i32.const 9))
    (func (export "run") (local $k (ref null $ki_i))
      (block $h (result i32 (ref $ki_i))
        (call $see (resume $k_i (on $ask $h) (cont.new $k_i (ref.func $body)))) (return))
      (local.set $k) (drop)
      (call $see (resume $ki_i (i32.const 0) (local.get $k))))`,
  );
  run();
  assert.deepEqual(seen, [9]);
});

// --- suspend

test("S-SUSPEND-1: the operands are the tag's parameters, the results its results", () => {
  valid(binary(`(func (result i32) (suspend $ask (i32.const 1)))`));
  valid(binary(`(func (suspend $stop))`));
  invalid(binary(`(func (suspend $ask (i32.const 1)))`), /type mismatch|operands are left/);
  invalid(binary(`(func (param i64) (result i32) (suspend $ask (local.get 0)))`), /type mismatch/);
});

test("S-SUSPEND-2: with no handler around it traps where it stands and names the tag; wasm cannot catch that", () => {
  const { alone, inside, elsewhere } = instance(`
    (tag $named (export "named")) (tag $halt (export "halt"))
    (func $alone (export "alone") (block $h (try_table (catch_all $h) (suspend $named))))
    (func (export "inside") (block $h (try_table (catch_all $h) (resume $k (cont.new $k (ref.func $alone))))))
    (func (export "elsewhere")
      (drop (block $h (result (ref $k)) (resume $k (on $halt $h) (cont.new $k (ref.func $alone))) (return))))`);
  traps(alone, /unhandled tag: suspend with tag named/);
  traps(inside, /unhandled tag: suspend with tag named/);
  traps(elsewhere, /unhandled tag: suspend with tag named.* for it, only for halt;/);
});

test("S-SUSPEND-3: it leaves all frames up to the handler; locals and operands of each are there afterwards", () => {
  const { run } = instance(`
    (func $deep (param $n i32) (result i32) (local $mine i32)
      (local.set $mine (i32.mul (local.get $n) (i32.const 3)))
      (local.get $mine)
      (if (result i32) (local.get $n)
        (then (call $deep (i32.sub (local.get $n) (i32.const 1))))
        (else (suspend $ask (i32.const 0))))
      (i32.add) (i32.add (local.get $n)))
    (func $body (type $f_i) (call $deep (i32.const 10)))
    (func (export "run") (result i32) (local $k (ref null $ki_i))
      (block $h (result i32 (ref $ki_i)) (return (resume $k_i (on $ask $h) (cont.new $k_i (ref.func $body)))))
      (local.set $k) (drop)
      (resume $ki_i (i32.const 1000) (local.get $k)))`);
  assert.equal(run(), 1000 + 4 * 55);
});

test("S-SUSPEND-4: it may stand in another module than its handler, if both have the same tag", () => {
  const inner = instance(`
    (tag $shared (export "tag") (param i32) (result i32))
    (func (export "asks") (result i32) (suspend $shared (i32.const 6)))`);
  const { run } = instance(
    `
    (import "m" "asks" (func $asks (type $f_i)))
    (import "m" "tag" (tag $shared (param i32) (result i32)))
    (func (export "run") (result i32) (local $k (ref null $ki_i))
      (block $h (result i32 (ref $ki_i)) (return (resume $k_i (on $shared $h) (cont.new $k_i (ref.func $asks)))))
      (local.set $k) (i32.mul (i32.const 7))
      (resume $ki_i (local.get $k)))`,
    { m: inner },
  );
  assert.equal(run(), 42);
});

// --- handlers

test("S-HDL-1: a suspend branches to the label of its tag, with the payload and, on top, the continuation", () => {
  const { run } = instance(`
    (func $body (type $f) (drop (suspend $ask (i32.const 5))))
    (func (export "run") (result i32)
      (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $body))) (return (i32.const -1)))
      (ref.is_null) (i32.eqz) (i32.add (i32.const 10)) (i32.add))`);
  assert.equal(run(), 16);
});

test("S-HDL-2: the label takes the payload and a continuation of what the tag and the continuation return", () => {
  const types = [
    ...[func([], [I64]), cont(0)], // what is resumed
    ...[func([I64], [I64]), cont(2)], // what the handler gets of it
    ...[func([], [I32]), cont(4)], // something else
    func([I32], [I64]), // the tag
    func(),
  ];
  const handler = (label) => {
    const all = [...types, func([], label)];
    const resuming = [...NO_CONT, 0xe3, 1, 1, 0, 0, 0]; // (resume 1 (on 0 0))
    return module({ types: all, tags: [6], functions: [[7, 0x02, 8, ...resuming, 0x1a, 0x00, 0x0b, 0x00]] });
  };
  valid(handler([I32, ref(3)]));
  valid(handler([I32, refNull(3)]));
  for (const label of [[I32, ref(1)], [I32, ref(5)], [I64, ref(3)], [I32, ref(CONT)], [ref(3), I32], [ref(3)], []]) {
    invalid(handler(label), /at byte/);
  }
});

test("S-HDL-3: of several clauses for one tag the first counts", () => {
  const { run } = instance(
    `
    (func $body (type $f) (suspend $stop))
    (func (export "run") (result i32)
      (block $b (result (ref $k))
        (block $a (result (ref $k))
          (resume $k (on $stop $a) (on $stop $b) (cont.new $k (ref.func $body))) (return (i32.const 0)))
        (drop) (return (i32.const 1)))
      (drop) (i32.const 2))`,
  );
  assert.equal(run(), 1);
});

const NESTED = `
  (func $leaf (type $f)
    (call $see (suspend $ask (i32.const 1))) (suspend $tell (i32.const 2)) (call $see (i32.const 99)))
  (func $middle (type $f) (local $k (ref null $k))
    (block $told (result i32 (ref $k)) (resume $k (on $tell $told) (cont.new $k (ref.func $leaf))) (return))
    (local.set $k) (call $see) (call $see (i32.const 50)) (resume $k (local.get $k)) (call $see (i32.const 51)))
  (func (export "run") (local $k (ref null $ki))
    (block $asked (result i32 (ref $ki)) (resume $k (on $ask $asked) (cont.new $k (ref.func $middle))) (return))
    (local.set $k) (call $see) (resume $ki (i32.const 30) (local.get $k)) (call $see (i32.const 40)))`;

test("S-HDL-4: the innermost resume around that has a clause for the tag handles it; the others are passed", () => {
  const { run, seen } = instance(NESTED);
  run();
  assert.deepEqual(seen, [1, 30, 2, 50, 99, 51, 40]);
});

test("S-HDL-5: what lies between is part of the continuation: its resumes and their handlers are there again", () => {
  const { run, seen } = instance(NESTED);
  run();
  // $tell is handled by the resume of $middle, which was inside of the continuation that $ask captured.
  assert.deepEqual(seen.slice(1, 4), [30, 2, 50]);
});

test("S-HDL-6: a handler counts for one resume: it is gone where its label is, and a later resume has its own", () => {
  const { again, label } = instance(`
    (tag $named (export "named"))
    (func $body (type $f) (suspend $named) (suspend $named))
    (func (export "again") (local $k (ref null $k))
      (block $h (result (ref $k)) (resume $k (on $named $h) (cont.new $k (ref.func $body))) (return))
      (local.set $k) (resume $k (local.get $k)))
    (func (export "label")
      (block $h (result (ref $k)) (resume $k (on $named $h) (cont.new $k (ref.func $body))) (return))
      (drop) (suspend $named))`);
  traps(again, UNHANDLED);
  traps(label, UNHANDLED);
});

test("S-HDL-7: operands below those of the resume are dropped or kept as by any branch to the label", () => {
  const { run } = instance(`
    (func $body (type $f) (suspend $stop))
    (func (export "run") (result i32)
      (i32.const 1000)
      (block $h (result (ref $k))
        (i32.const 1) (i32.const 2)
        (resume $k (on $stop $h) (cont.new $k (ref.func $body)))
        (drop) (drop) (unreachable))
      (drop))`);
  assert.equal(run(), 1000);
});

test("S-HDL-8: the label may be of any block around, also of a loop and of the function itself", () => {
  const { loop, outer } = instance(`
    (func $body (type $f) (local $i i32)
      (loop $l
        (suspend $stop)
        (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 4)))))
    (func (export "loop") (result i32) (local $n i32) (local $k (ref null $k))
      (cont.new $k (ref.func $body))
      (loop $l (param (ref $k))
        (local.set $k)
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (resume $k (on $stop $l) (local.get $k)))
      (local.get $n))
    (func $outer (result (ref null $k)) (resume $k (on $stop 0) (cont.new $k (ref.func $body))) (ref.null $k))
    (func (export "outer") (result i32) (ref.is_null (call $outer)))`);
  assert.equal(loop(), 5);
  assert.equal(outer(), 0);
});

test("S-HDL-9: tags are told apart by identity: an equal one has nothing to do with it", () => {
  const { run } = instance(`
    (tag $a) (tag $b)
    (func $body (type $f) (suspend $b))
    (func (export "run") (result i32)
      (block $a (result (ref $k)) (block $b (result (ref $k))
        (resume $k (on $a $a) (on $b $b) (cont.new $k (ref.func $body))) (return (i32.const 0)))
        (drop) (return (i32.const 2)))
      (drop) (i32.const 1))`);
  assert.equal(run(), 2);
});

// --- cont.bind

test("S-BIND-1: the second type is the first one without its first parameters, which are operands", () => {
  const types = [
    ...[func([I32, I64], [I32]), cont(0)],
    ...[func([I64], [I32]), cont(2)],
    ...[func([], [I32]), cont(4)],
    ...[func([I32], [I32]), cont(6)],
    ...[func([I64], []), cont(8)],
  ];
  const bind = (from, to, ...operands) => {
    const all = [...types, func([], [ref(to)])];
    return module({ types: all, functions: [[10, ...operands, 0xd0, from, 0xe1, from, to]] });
  };
  valid(bind(1, 3, 0x41, 5));
  valid(bind(1, 5, 0x41, 5, 0x42, 5));
  valid(bind(1, 1));
  for (const to of [7, 9]) invalid(bind(1, to, 0x41, 5), /at byte/); // another rest, other results
  invalid(bind(3, 1), /at byte/); // longer
  invalid(bind(1, 3, 0x42, 5), /type mismatch/);
  invalid(bind(1, 5, 0x41, 5), /type mismatch/);
});

const SUBTRACT = `(func $minus (type $fii_i) (i32.sub (local.get 0) (local.get 1)))`;

test("S-BIND-2: it makes a continuation that takes the rest: what has been bound comes first, in order", () => {
  const { run, twice } = instance(`${SUBTRACT}
    (func (export "run") (result i32)
      (resume $ki_i (i32.const 1) (cont.bind $kii_i $ki_i (i32.const 50) (cont.new $kii_i (ref.func $minus)))))
    (func (export "twice") (result i32)
      (resume $k_i (cont.bind $ki_i $k_i (i32.const 2)
        (cont.bind $kii_i $ki_i (i32.const 50) (cont.new $kii_i (ref.func $minus))))))`);
  assert.equal(run(), 49);
  assert.equal(twice(), 48);
});

test("S-BIND-2: what is bound may be of any type, beside cont.new and apart from it", () => {
  const values = `(i64.const 1) (f32.const 2) (f64.const 3) (ref.func $four) (local.get $five)`;
  const { beside, apart, later } = instance(`
    (type $all (func (param i64 f32 f64 (ref $f_i) externref i32 (ref $f_i)) (result i32 externref)))
    (type $rest (func (param i32 (ref $f_i)) (result i32 externref)))
    (type $last (func (param (ref $f_i)) (result i32 externref)))
    (type $kall (cont $all)) (type $krest (cont $rest)) (type $klast (cont $last))
    (func $four (type $f_i) (i32.const 4))
    (func $six (type $f_i) (i32.const 6))
    (func $body (type $all)
      (i32.add (i32.wrap_i64 (local.get 0))
        (i32.mul (i32.trunc_f32_s (local.get 1))
          (i32.add (i32.trunc_f64_s (local.get 2))
            (i32.mul (call_ref $f_i (local.get 3))
              (i32.sub (call_ref $f_i (local.get 6)) (local.get 5))))))
      (local.get 4))
    (func (export "beside") (param $five externref) (result i32 externref)
      (resume $krest (i32.const 5) (ref.func $six)
        (cont.bind $kall $krest ${values} (cont.new $kall (ref.func $body)))))
    (func (export "apart") (param $five externref) (result i32 externref) (local $k (ref $kall))
      (local.set $k (cont.new $kall (ref.func $body)))
      (resume $krest (i32.const 5) (ref.func $six) (cont.bind $kall $krest ${values} (local.get $k))))
    (func (export "later") (param $five externref) (result i32 externref)
      (resume $klast (ref.func $six) (cont.bind $krest $klast (i32.const 5)
        (cont.bind $kall $krest ${values} (cont.new $kall (ref.func $body))))))`);
  const five = {};
  for (const call of [beside, apart, later]) assert.deepEqual(call(five), [15, five]);
});

test("S-BIND-2: a continuation of a subtype is bound as one of the supertype", () => {
  const { run } = instance(`
    (type $high (sub (func (param i32 i32) (result i32)))) (type $khigh (sub (cont $high)))
    (type $low (sub $high (func (param i32 i32) (result i32)))) (type $klow (sub $khigh (cont $low)))
    (func $minus (type $low) (i32.sub (local.get 0) (local.get 1)))
    (func (export "run") (result i32)
      (resume $ki_i (i32.const 1) (cont.bind $khigh $ki_i (i32.const 50) (cont.new $klow (ref.func $minus)))))`);
  assert.equal(run(), 49);
});

test("S-BIND-3: it consumes its operand, also if nothing is bound", () => {
  const { some, none } = instance(`${SUBTRACT}
    (func (export "some") (result i32) (local $k (ref $kii_i))
      (local.set $k (cont.new $kii_i (ref.func $minus)))
      (drop (cont.bind $kii_i $ki_i (i32.const 1) (local.get $k)))
      (resume $kii_i (i32.const 1) (i32.const 2) (local.get $k)))
    (func (export "none") (result i32) (local $k (ref $kii_i))
      (local.set $k (cont.new $kii_i (ref.func $minus)))
      (drop (cont.bind $kii_i $kii_i (local.get $k)))
      (resume $kii_i (i32.const 1) (i32.const 2) (local.get $k)))`);
  traps(some, CONSUMED);
  traps(none, CONSUMED);
});

test("S-BIND-4: a null continuation, or one that has been consumed, traps", () => {
  const { isNull, consumed } = instance(`${SUBTRACT}
    (global $none (ref null $kii_i) (ref.null $kii_i))
    (func (export "isNull") (drop (cont.bind $kii_i $ki_i (i32.const 1) (global.get $none))))
    (func (export "consumed") (local $k (ref $kii_i))
      (local.set $k (cont.new $kii_i (ref.func $minus)))
      (drop (resume $kii_i (i32.const 1) (i32.const 2) (local.get $k)))
      (drop (cont.bind $kii_i $ki_i (i32.const 1) (local.get $k))))`);
  traps(isNull, NULL);
  traps(consumed, CONSUMED);
});

test("S-BIND-5: nothing runs; a continuation that is half run can be bound, too", () => {
  const { run, seen } = instance(`
    (func $body (type $f) (call $see (suspend $ask (i32.const 1))))
    (func (export "run") (local $k (ref null $ki)) (local $bound (ref null $k))
      (block $h (result i32 (ref $ki)) (resume $k (on $ask $h) (cont.new $k (ref.func $body))) (return))
      (local.set $k) (drop)
      (local.set $bound (cont.bind $ki $k (i32.const 8) (local.get $k)))
      (call $see (i32.const 7))
      (resume $k (local.get $bound)))`);
  run();
  assert.deepEqual(seen, [7, 8]);
});
