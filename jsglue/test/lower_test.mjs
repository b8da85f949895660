// Functions that leave their stack anywhere, and come back: every body here is compiled twice, once with a call that
// suspends and is resumed with an answer, once with a call that computes the same answer. Both must do the same.
// Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly as lowering } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";
import { cont, func, I32, module, ref } from "./instructions.mjs";

const instance = (text, imports) => new lowering.Instance(new lowering.Module(assemble(text)), imports).exports;

const TYPES = `
  (type $f0 (func (result i64))) (type $k0 (cont $f0))
  (type $f1 (func (param i32) (result i64))) (type $k1 (cont $f1))
  (type $pair (struct (field i32) (field (mut i32))))
  (type $ints (array (mut i32)))
  (type $unary (func (param i32) (result i32)))
  (tag $t (param i32) (result i32))
  (tag $e (param i32))
  (memory 1)
  (global $g (mut i32) (i32.const 0))
  (global $count (mut i32) (i32.const 0))
  (table $table 4 funcref)
  (elem (table $table) (i32.const 0) func $ask $plus)
  (elem declare func $body)
  (func $plus (type $unary) (i32.add (local.get 0) (i32.const 100)))`;

// Asked twice for one answer, so that a frame is also saved where it has been resumed.
const SUSPENDS = `
  (func $ask (type $unary) (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (i32.add (suspend $t (local.get 0)) (suspend $t (i32.const 1))))`;
const COMPUTES = `
  (func $ask (type $unary) (global.set $count (i32.add (global.get $count) (i32.const 1)))
    (i32.add (i32.mul (local.get 0) (i32.const 3)) (i32.const 3)))`;

const RUN = `
  (func (export "plain") (result i64) (call $body))
  (func (export "count") (result i32) (global.get $count))
  (func (export "run") (result i64)
    (local $k (ref null $k1)) (local $v i32)
    (block $h (result i32 (ref $k1)) (return (resume $k0 (on $t $h) (cont.new $k0 (ref.func $body)))))
    (local.set $k) (local.set $v)
    (loop $again
      (block $h (result i32 (ref $k1))
        (return (resume $k1 (on $t $h) (i32.mul (local.get $v) (i32.const 3)) (local.get $k))))
      (local.set $k) (local.set $v) (br $again))
    (unreachable))`;

/** Runs a body both ways. In it $ask takes and returns an i32; it returns an i64. */
function same(name, functions, expected) {
  test(name, () => {
    const suspended = instance(`(module ${TYPES} ${SUSPENDS} ${functions} ${RUN})`);
    const computed = instance(`(module ${TYPES} ${COMPUTES} ${functions} ${RUN})`);
    const outcome = (fn) => {
      try {
        return fn();
      } catch (error) {
        if (error instanceof WebAssembly.Exception) return "exception";
        return `${error.name}: ${error.message.replace(/ \(evaluating .*/, "")}`; // which JavaScriptCore adds
      }
    };
    for (let k = 0; k < 3; k++) {
      const wanted = outcome(computed.plain);
      if (expected instanceof RegExp) assert.match(wanted, expected);
      else if (expected !== undefined) assert.equal(wanted, expected);
      assert.equal(outcome(suspended.run), wanted);
      assert.ok(computed.count() > 0, "the body never asks");
      assert.equal(suspended.count(), computed.count());
    }
  });
}

const ask = (n) => `(call $ask (i32.const ${n}))`;

same(
  "operands below the arguments of a call survive",
  `
  (func $body (type $f0)
    (i64.const 7) (f64.const 2.5) (ref.i31 (i32.const 9))
    (i32.const 40) ${ask(5)} i32.add
    (drop) (drop) (i64.trunc_f64_s) (i64.add))`,
);

same(
  "operands around nested blocks survive",
  `
  (func $body (type $f0) (local $i i32)
    (i64.const 1)
    (block (result i64)
      (f32.const 3)
      (block (result i64)
        (i32.const 4)
        (loop (result i64)
          (i64.const 100)
          (local.set $i (i32.add (local.get $i) ${ask(2)}))
          (i64.extend_i32_u (local.get $i)) (i64.add)
          (br_if 1 (i32.gt_u (local.get $i) (i32.const 30)))
          (drop) (br 0))
        (drop) (drop) (i64.const 1000))
      (drop) (drop) (i64.const 55))
    (i64.add))`,
);

same(
  "a loop with parameters",
  `
  (func $body (type $f0)
    (i32.const 10) (i64.const 0) (ref.i31 (i32.const 3))
    (loop $l (param i32 i64 (ref i31)) (result i64)
      (local.set $r) (local.set $acc) (local.set $n)
      (local.set $acc (i64.add (local.get $acc) (i64.extend_i32_u (call $ask (local.get $n)))))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (local.get $n) (local.get $acc) (ref.i31 ${ask(1)})
      (br_if $l (local.get $n))
      (drop) (local.set $acc) (drop) (local.get $acc))
  )`.replace("(type $f0)", "(type $f0) (local $r i31ref) (local $acc i64) (local $n i32)"),
);

for (const labels of ["$one $default", "$default"]) {
  same(
    `a local that is read only where ${labels} leads by default`,
    `
    (func $body (type $f0) (local $read i64) (local $n i32)
      (local.set $read (i64.const 40))
      (local.set $n ${ask(5)})
      (block $default (block $one (br_table ${labels} (local.get $n))) (return (i64.const 1)))
      (local.get $read))`,
    40n,
  );
}

same(
  "blocks of several values, br_table over them",
  `
  (func $body (type $f0) (local $i i32) (local $sum i64)
    (loop $again
      (block $c (result i32 i64)
        (block $b (result i32 i64)
          (block $a (result i32 i64)
            ${ask(3)} (i64.extend_i32_u ${ask(4)})
            (i32.rem_u (local.get $i) (i32.const 3))
            (br_table $a $b $c))
          (i64.extend_i32_u ${ask(10)}) (i64.add))
        (i64.const 1000) (i64.mul))
      (local.set $sum (i64.add (local.get $sum)))
      (i64.extend_i32_u) (local.set $sum (i64.add (local.get $sum)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 9))))
    (local.get $sum))`,
);

same(
  "the condition of an if, both its arms, and what they return",
  `
  (func $body (type $f0) (local $i i32) (local $sum i64)
    (loop $again
      (i64.const 5)
      (if (result i64) (i32.and ${ask(1)} (i32.add (local.get $i) ${ask(2)}))
        (then (i64.extend_i32_u ${ask(3)}))
        (else (i64.mul (i64.const 7) (i64.extend_i32_u ${ask(4)}))))
      (i64.add)
      (local.set $sum (i64.add (local.get $sum)))
      (if (i32.and (local.get $i) (i32.const 2)) (then (drop ${ask(1)})))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 6))))
    (local.get $sum))`,
);

same(
  "an if with parameters and no else",
  `
  (func $body (type $f0) (local $i i32)
    (i64.const 3) (ref.i31 (i32.const 4))
    (loop $l (param i64 (ref i31)) (result i64 (ref i31))
      (if (param i64 (ref i31)) (result i64 (ref i31)) (i32.and (local.get $i) (i32.const 1))
        (then (drop) (i64.extend_i32_u ${ask(6)}) (i64.add) (ref.i31 ${ask(2)})))
      (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 6))))
    (i31.get_u) (i64.extend_i32_u) (i64.mul))`,
);

same(
  "a call in an argument of a call, and of a suspension",
  `
  (func $two (param i32 i32) (result i32) (i32.sub (call $ask (local.get 1)) (local.get 0)))
  (func $body (type $f0)
    (i64.extend_i32_u (call $two (call $two ${ask(1)} ${ask(2)}) (call $ask (call $two ${ask(3)} (i32.const 9))))))`,
);

same(
  "code behind a branch",
  `
  (func $body (type $f0)
    (block $out (result i64)
      (block
        (br_if 0 (i32.eqz ${ask(1)}))
        (br $out (i64.extend_i32_u ${ask(2)}))
        (drop ${ask(3)}) (loop (br 0)) (i32.add) (drop))
      (return (i64.const 1))
      (unreachable))
    (i64.add (i64.const 1)))`,
);

same(
  "locals that have no default, and references of every kind",
  `
  (func $body (type $f0)
    (local $p (ref $pair)) (local $a (ref $ints)) (local $f (ref $unary)) (local $x externref) (local $i (ref i31))
    (local $any anyref) (local $v v128) (local $d f64)
    (local.set $p (struct.new $pair (i32.const 3) (i32.const 4)))
    (local.set $a (array.new $ints (i32.const 8) (i32.const 5)))
    (local.set $f (ref.func $ask))
    (local.set $x (extern.convert_any (local.get $p)))
    (local.set $i (ref.i31 (i32.const 77)))
    (local.set $any (local.get $a))
    (local.set $v (i64x2.splat (i64.const 11)))
    (local.set $d (f64.const 0.5))
    (struct.set $pair 1 (local.get $p) ${ask(1)})
    (array.set $ints (local.get $a) (i32.const 2) ${ask(2)})
    (i64.extend_i32_u (i32.add (call_ref $unary (struct.get $pair 0 (local.get $p)) (local.get $f))
      (i32.add (array.get $ints (ref.cast (ref $ints) (local.get $any)) (i32.const 2))
        (i32.add (i31.get_u (local.get $i))
          (struct.get $pair 1 (ref.cast (ref $pair) (any.convert_extern (local.get $x))))))))
    (i64.add (i64x2.extract_lane 1 (local.get $v)))
    (i64.add (i64.trunc_f64_s (f64.mul (local.get $d) (f64.const 8)))))
  (elem declare func $ask)`,
);

same(
  "call_indirect, and a table that changes while its caller is suspended",
  `
  (func $body (type $f0)
    (i64.extend_i32_u (call_indirect (type $unary) (i32.const 6) (i32.const 0)))
    (table.set $table (i32.const 0) (ref.func $plus))
    (i64.extend_i32_u (call_indirect (type $unary) (i32.const 6) (i32.const 0)))
    (table.set $table (i32.const 0) (ref.func $ask))
    (i64.add))
  (elem declare func $ask $plus)`,
);

same(
  "tail calls: direct, indirect, by reference, and in a loop of their own",
  `
  (func $a (param i32 i64) (result i64)
    (if (i32.eqz (local.get 0)) (then (return (local.get 1))))
    (return_call $b (i32.sub (local.get 0) (i32.const 1)) (i64.add (local.get 1) (i64.extend_i32_u (call $ask
      (local.get 0))))))
  (type $ft (func (param i32 i64) (result i64)))
  (func $b (type $ft) (if (i32.and (local.get 0) (i32.const 1))
    (then (return_call_ref $ft (local.get 0) (local.get 1) (ref.func $a))))
    (drop ${ask(4)})
    (return_call_indirect (type $ft) (local.get 0) (i64.add (local.get 1) (i64.const 1)) (i32.const 2)))
  (elem (table $table) (i32.const 2) func $a)
  (elem declare func $a)
  (func $body (type $f0) (drop ${ask(1)}) (return_call $a (i32.const 9) (i64.const 0)))`,
);

same(
  "a tail call out of a try_table is not inside of it",
  `
  (func $throws (param i32) (result i64) (drop (call $ask (local.get 0))) (throw $e (i32.const 5)))
  (func $inner (result i64)
    (block $h (result i32)
      (try_table (catch $e $h) (drop ${ask(1)}) (return_call $throws (i32.const 2)))
      (unreachable))
    (drop) (i64.const -1))
  (func $body (type $f0)
    (block $h (result i32)
      (try_table (catch $e $h) (drop (call $inner)))
      (return (i64.const -2)))
    (i64.extend_i32_u (i32.add ${ask(3)})))`,
  17n,
);

same(
  "an exception behind a suspension is caught by the frame that has been saved",
  `
  (func $thrower (param i32) (result i32) (drop (call $ask (local.get 0))) (throw $e (local.get 0)))
  (func $between (param i32) (result i32) (i32.add (i32.const 1) (call $thrower (local.get 0))))
  (func $body (type $f0) (local $i i32) (local $sum i64) (local $x exnref)
    (loop $again
      (block $all (result exnref)
        (block $h (result i32)
          (try_table (catch $e $h) (catch_all_ref $all)
            (drop (call $between (local.get $i)))
            (drop ${ask(99)}))
          (unreachable))
        (i32.add ${ask(1)}) (i64.extend_i32_u) (local.set $sum (i64.add (local.get $sum)))
        (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 4)))
        (return (local.get $sum)))
      (local.set $x) (drop ${ask(1)}) (throw_ref (local.get $x)))
    (unreachable))`,
);

same(
  "an exception reference survives a suspension and is thrown by identity",
  `
  (func $body (type $f0) (local $x exnref)
    (block $all (result exnref) (try_table (catch_all_ref $all) (throw $e ${ask(7)})) (unreachable))
    (local.set $x)
    (drop ${ask(1)})
    (block $h (result i32)
      (try_table (catch $e $h) (drop ${ask(2)}) (throw_ref (local.get $x)))
      (unreachable))
    (i64.extend_i32_u))`,
  24n,
);

same(
  "an exception that nobody catches passes the handler",
  `
  (func $body (type $f0) (drop ${ask(1)}) (throw $e ${ask(2)}))`,
  "exception",
);

same(
  "a trap behind a suspension is a trap",
  `
  (func $body (type $f0) (drop ${ask(1)}) (i64.extend_i32_u (i32.div_u ${ask(2)} (i32.sub ${ask(2)} ${ask(2)}))))`,
  /^RuntimeError: .*divi.* by zero$/i, // the engine's words
);

same(
  "deep recursion that suspends at every level",
  `
  (func $rec (param $n i32) (result i64) (local $a i32)
    (if (i32.eqz (local.get $n)) (then (return (i64.const 0))))
    (local.set $a (call $ask (local.get $n)))
    (i64.add (call $rec (i32.sub (local.get $n) (i32.const 1))) (i64.extend_i32_u (i32.add (local.get $a)
      (call $ask (local.get $n))))))
  (func $body (type $f0) (call $rec (i32.const 60)))`,
);

same(
  "memory and globals change while a caller is suspended",
  `
  (func $body (type $f0)
    (global.set $g (i32.const 1))
    (i32.store (i32.const 8) ${ask(3)})
    (drop (memory.grow (i32.const 1)))
    (i32.store (i32.const 65540) (i32.add (global.get $g) ${ask(4)}))
    (i64.add (i64.extend_i32_u (i32.load (i32.const 65540))) (i64.extend_i32_u (i32.mul (memory.size) (i32.load
      (i32.const 8))))))`,
);

same(
  "br_on_null, br_on_non_null, br_on_cast with what has been asked for",
  `
  (func $pick (param i32) (result anyref)
    (drop (call $ask (local.get 0)))
    (if (i32.eq (local.get 0) (i32.const 1)) (then (return (ref.null none))))
    (if (i32.eq (local.get 0) (i32.const 2)) (then (return (ref.i31 (i32.const 8)))))
    (struct.new $pair (i32.const 1) ${ask(5)}))
  (func $value (param i32) (result i32)
    (block $null
      (block $i31 (result (ref i31))
        (block $pair (result (ref $pair))
          (br_on_cast $pair anyref (ref $pair) (call $pick (local.get 0)))
          (br_on_cast $i31 anyref (ref i31))
          (br_on_null $null) (unreachable))
        (return (i32.add (struct.get $pair 1) ${ask(1)})))
      (return (i32.add (i31.get_u) ${ask(2)})))
    (i32.const 3))
  (func $body (type $f0)
    (i64.extend_i32_u (i32.add (call $value (i32.const 1)) (i32.mul (call $value (i32.const 2)) (call $value
      (i32.const 3))))))`,
);

same(
  "results of several values, and results without a default",
  `
  (type $inner (struct (field (ref $pair)) (field i8) (field (ref $unary)) (field (ref null $inner))))
  (func $p (result (ref $pair)) (struct.new $pair (i32.const 2) ${ask(1)}))
  (func $inner (result (ref $inner)) (struct.new $inner (call $p) ${ask(2)} (ref.func $ask) (ref.null $inner)))
  (func $f (result (ref $unary)) (drop ${ask(3)}) (ref.func $ask))
  (func $func (result (ref func)) (drop ${ask(3)}) (ref.func $ask))
  (func $i31 (result (ref i31)) (ref.i31 ${ask(4)}))
  (func $any (result (ref any)) (ref.i31 ${ask(4)}))
  (func $extern (result (ref extern)) (extern.convert_any (ref.i31 ${ask(5)})))
  (func $ints (result (ref $ints)) (array.new_fixed $ints 1 ${ask(6)}))
  (func $struct (result (ref struct)) (call $inner))
  (func $array (result (ref array)) (call $ints))
  (func $exn (result (ref exn))
    (block $h (result (ref exn)) (try_table (catch_all_ref $h) (throw $e ${ask(7)})) (unreachable)))
  (func $k (result (ref $k0)) (drop ${ask(8)}) (cont.new $k0 (ref.func $body)))
  (func $many (result i32 i64 f32) ${ask(9)} (i64.extend_i32_u ${ask(10)}) (f32.const 1))
  (elem declare func $ask)
  (func $body (type $f0) (local $n i64)
    (drop (call $struct)) (drop (call $array)) (drop (call $func)) (drop (call $any)) (drop (call $extern)) (drop
      (call $k))
    (call $many) (drop) (local.set $n) (i64.extend_i32_u) (i64.add (local.get $n))
    (local.set $n)
    (block $h (result i32) (try_table (catch $e $h) (throw_ref (call $exn))) (unreachable))
    (i64.add (local.get $n) (i64.extend_i32_u (i32.add (call_ref $unary (i32.const 3) (call $f))
      (i32.add (struct.get $pair 1 (struct.get $inner 0 (call $inner)))
        (i32.add (i31.get_u (call $i31)) (array.get $ints (call $ints) (i32.const 0)))))))
    (local.set $n) (i64.extend_i32_u) (i64.add (local.get $n)))`,
);

const FUNCREF = 0x70;
const SUSPEND = [0xe2, 0];
const IS_NULL = [0xd1];
const constructs = {
  block: [0x02, 3, ...SUSPEND, ...IS_NULL, 0x0b],
  loop: [0x03, 3, ...SUSPEND, ...IS_NULL, 0x0b],
  if: [0x41, 1, 0x04, 3, ...SUSPEND, ...IS_NULL, 0x05, ...IS_NULL, 0x0b],
  try_table: [0x1f, 3, 0, ...SUSPEND, ...IS_NULL, 0x0b],
};

/**
 * A module in binary, since Binaryen's text has no such parameters. run() calls main, of this code, and resumes it the
 * first two times that it suspends. Type 3 is of a block, 0 is main.
 */
const mainOf = (code, blockType) =>
  module({
    types: [func(), func([], [I32]), cont(1), blockType, func([ref(2)], [ref(2)])],
    tags: [0],
    functions: [
      [1, ...code],
      [
        ...[1, 0x02, ...ref(2), 0xd2, 0, 0xe0, 2, 0xe3, 2, 1, 0, 0, 0, 0x0f, 0x0b],
        ...[0x02, 4, 0xe3, 2, 1, 0, 0, 0, 0x0f, 0x0b],
        ...[0xe3, 2, 0],
      ],
    ],
    exports: [
      ["main", 0],
      ["run", 1],
    ],
  });
const run = (bytes) => new lowering.Instance(new lowering.Module(bytes)).exports.run();
const REF_MAIN = [0xd2, 0];
const DROP = [0x1a];

for (const [name, code] of Object.entries(constructs))
  test(`parameter of ${name}, given a value of a subtype of its type`, () => {
    assert.equal(run(mainOf([...SUSPEND, ...REF_MAIN, ...code], func([FUNCREF], [I32]))), 0);
  });

const branches = { br_if: [0x41, 0, 0x0d, 0], br_on_null: [...REF_MAIN, 0xd5, 0, ...DROP] };

for (const [name, code] of Object.entries(branches))
  test(`what ${name} leaves that could have gone to a loop whose parameter is not null`, () => {
    const loop = [0x03, 3, ...SUSPEND, ...code, 0x0b];
    assert.equal(run(mainOf([...REF_MAIN, ...loop, ...DROP, 0x41, 7], func([ref(1)], [ref(1)]))), 7);
  });

test("a large function with a reference keeps every value at each of its calls", () => {
  // Its calls are so many that its frames share one layout. The values are a sum that each call changes.
  const LOCALS = 60;
  const CALLS = 1000;
  const locals = Array.from({ length: LOCALS }, (_, i) => `(local $l${i} ${i % 3 === 0 ? "i64" : "i32"})`).join(" ");
  const call = (k) => {
    const i = k % LOCALS;
    const operands = ["", "(i32.const 5)", "(i32.const 5) (i64.const 6)"][k % 7] ?? "";
    const drops = ["", "(drop)", "(drop) (drop)"][k % 7] ?? "";
    const answer = `(call $ask (i32.const ${k}))`;
    const sum =
      i % 3 === 0
        ? `(i64.add (i64.extend_i32_s ${answer}) (local.get $l${i}))`
        : `(i32.add ${answer} (local.get $l${i}))`;
    return `${operands} (local.set $l${i} ${sum}) ${drops} (if (i32.and (local.get $n) (i32.const ${1 << (k % 8)}))
      (then (drop (call $same (local.get $r)))))`;
  };
  const total = Array.from({ length: LOCALS }, (_, i) => {
    const value = i % 3 === 0 ? `(i32.wrap_i64 (local.get $l${i}))` : `(local.get $l${i})`;
    return `(local.set $n (i32.add (i32.mul (local.get $n) (i32.const 31)) ${value}))`;
  }).join("\n");
  const text = (ask, handled) => `(module
    (type $f (func (param i32 externref) (result i32))) (type $k (cont $f))
    (type $answered (func (param i32) (result i32))) (type $kk (cont $answered))
    (tag $t (param i32) (result i32))
    (func $ask (param i32) (result i32) ${ask})
    (func $same (param externref) (result externref) (drop (call $ask (i32.const 1))) (local.get 0))
    (func $large (param $n i32) (param $r externref) (result i32)
      ${locals}
      ${Array.from({ length: CALLS }, (_, k) => call(k)).join("\n")}
      ${total}
      (i32.add (local.get $n) (ref.is_null (local.get $r))))
    (elem declare func $large)
    (func (export "run") (param $n i32) (param $r externref) (result i32) ${handled}))`;
  const plain = text("(i32.mul (local.get 0) (i32.const 7))", "(call $large (local.get $n) (local.get $r))");
  const suspends = text(
    "(suspend $t (local.get 0))",
    `(local $v i32) (local $kk (ref null $kk))
      (block $on (result i32 (ref $kk))
        (return (resume $k (on $t $on) (local.get $n) (local.get $r) (cont.new $k (ref.func $large)))))
      (local.set $kk) (local.set $v)
      (loop $again (result i32)
        (block $more (result i32 (ref $kk))
          (return (resume $kk (on $t $more) (i32.mul (local.get $v) (i32.const 7)) (local.get $kk))))
        (local.set $kk) (local.set $v)
        (br $again))`,
  );
  const [a, b] = [instance(plain), instance(suspends)];
  for (const n of [0, 0b10110101, -1]) assert.equal(b.run(n, {}), a.run(n, {}));
});
