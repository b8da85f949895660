// The rules S of docs/rules.md: switch. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONSUMED, instance, invalid, NULL, traps, UNHANDLED, valid } from "./instructions.mjs";
import { cont, func, I32, I64, module, refNull } from "./instructions.mjs";

// Tasks that take a number and whoever switched to them, and never a number back but by a switch.
const TASKS = `
  (rec (type $task (func (param i32 (ref null $kt)) (result i32))) (type $kt (cont $task)))
  (tag $swap (result i32))
  (tag $named (export "named") (result i32))`;

// --- validation: a continuation that takes an i32 and a continuation, and returns an i64, is switched to.

// 0 and 1: the current one, afterwards; 2 and 3: the other; 4: tag; 5: who switches.
const switching = ({ back = [I64], other = [I64], tag = [[], [I64]], operands = [0x41, 5], last = [refNull(1)] }) =>
  module({
    types: [
      ...[func([I32, I32], back), cont(0)],
      ...[func([I32, ...last], other), cont(2)],
      ...[func(...tag), func([], [I32, I32])],
    ],
    tags: [4],
    functions: [[5, ...operands, 0xd0, 3, 0xe6, 3, 0]],
  });

test("S-SWITCH-1: the other continuation takes the operands and this one; the results are what this one takes", () => {
  valid(switching({}));
  for (const wrong of [
    { operands: [] },
    { operands: [0x42, 5] },
    { last: [I32] }, // no continuation to come back to
    { last: [] },
    { tag: [[I32], [I64]] }, // the tag has parameters
    { tag: [[], [I32]] }, // the three return different things
    { other: [I32] },
    { back: [I32] },
  ]) {
    invalid(switching(wrong), /at byte/);
  }
});

test("S-SWITCH-2: a clause (on $tag switch) wants a tag without parameters, and the results of what is resumed", () => {
  const resuming = (tag, results) =>
    module({
      types: [func([], results), cont(0), func(...tag)],
      tags: [2],
      functions: [[0, 0xd0, 1, 0xe3, 1, 1, 1, 0]],
    });
  valid(resuming([[], [I64]], [I64]));
  valid(resuming([[], []], []));
  for (const [tag, results] of [
    [[[I32], [I64]], [I64]],
    [[[], [I32]], [I64]],
    [[[], []], [I64]],
    [[[], [I64]], []],
  ]) {
    invalid(resuming(tag, results), /at byte/);
  }
});

// --- execution

test("S-SWITCH-3: it suspends what runs up to the nearest (on $tag switch) and enters the other in its place", () => {
  const { run, seen } = instance(
    `${TASKS}
    (func $one (type $task)
      (call $see (local.get 0))
      (switch $kt $swap (i32.const 2) (cont.new $kt (ref.func $two)))
      (local.set 1) (call $see)
      (unreachable))
    (func $two (type $task) (call $see (local.get 0)) (i32.const 77))
    (func (export "run") (result i32)
      (resume $kt (on $swap switch) (i32.const 1) (ref.null $kt) (cont.new $kt (ref.func $one))))`,
  );
  assert.equal(run(), 77); // what the other returned goes to the resume, which never knew of the switch
  assert.deepEqual(seen, [1, 2]);
});

// $ping and $pong switch to each other $n times.
const PING = `${TASKS}
  (global $n (mut i32) (i32.const 0))
  (func $player (type $task) (local $step i32)
    (loop $again
      (call $see (local.get 0))
      (if (i32.ge_s (local.get 0) (global.get $n)) (then (return (local.get 0))))
      (switch $kt $swap (i32.add (local.get 0) (i32.const 1)) (local.get 1))
      (local.set 1) (local.set 0)
      (br $again))
    (unreachable))
  (func $first (type $task)
    (switch $kt $swap (local.get 0) (cont.new $kt (ref.func $player)))
    (local.set 1) (local.set 0)
    (return_call $player (local.get 0) (local.get 1)))
  (func (export "run") (param i32) (result i32) (global.set $n (local.get 0))
    (resume $kt (on $swap switch) (i32.const 0) (ref.null $kt) (cont.new $kt (ref.func $first))))`;

test("S-SWITCH-4: the other gets the operands and, behind them, a new continuation of who has switched", () => {
  const { run, seen } = instance(PING);
  assert.equal(run(1), 1);
  assert.deepEqual(seen, [0, 1]);
});

test("S-SWITCH-5: a switch returns when its continuation is resumed or switched to, with the values given", () => {
  const { run, seen } = instance(PING);
  assert.equal(run(7), 7);
  assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6, 7]);
});

test("S-SWITCH-6: the other may be fresh, suspended by a tag, bound, or left by a switch", () => {
  const { run, seen } = instance(`${TASKS}
    (rec (type $more (func (param i32 i32 (ref null $kt)) (result i32))) (type $kmore (cont $more)))
    (tag $pause (result i32 (ref null $kt)))
    (func $bound (type $more) (call $see (i32.add (local.get 0) (local.get 1))) (i32.const 5))
    (func $paused (type $task) (suspend $pause) (drop) (call $see)
      (call $switches (i32.const 30) (cont.bind $kmore $kt (i32.const 400) (cont.new $kmore (ref.func $bound)))))
    (func $switches (type $task) (switch $kt $swap (local.get 0) (local.get 1)) (drop))
    (func $begins (type $task) (call $switches (i32.const 20) (local.get 1)))
    (func (export "run") (result i32) (local $k (ref null $kt))
      (block $h (result (ref $kt))
        (return (resume $kt (on $pause $h) (i32.const 0) (ref.null $kt) (cont.new $kt (ref.func $paused)))))
      (local.set $k)
      (resume $kt (on $swap switch) (i32.const 10) (local.get $k) (cont.new $kt (ref.func $begins))))`);
  assert.equal(run(), 5);
  assert.deepEqual(seen, [20, 430]);
});

test("S-SWITCH-7: a null continuation, or one that has been consumed, traps; so nothing switches to itself", () => {
  const { isNull, consumed } = instance(`${TASKS}
    (global $self (mut (ref null $kt)) (ref.null $kt))
    (func $switches (type $task) (switch $kt $swap (i32.const 0) (global.get $self)) (drop))
    (func (export "isNull") (result i32)
      (resume $kt (on $swap switch) (i32.const 0) (ref.null $kt) (cont.new $kt (ref.func $switches))))
    (func (export "consumed") (result i32) (global.set $self (cont.new $kt (ref.func $switches)))
      (resume $kt (on $swap switch) (i32.const 0) (ref.null $kt) (global.get $self)))`);
  traps(isNull, NULL);
  traps(consumed, CONSUMED);
});

test("S-SWITCH-8: with no (on $tag switch) around it traps, names the tag, and consumes nothing", () => {
  const { label, alone, still } = instance(
    `${TASKS}
    (global $other (mut (ref null $kt)) (ref.null $kt))
    (func $five (type $task) (i32.const 5))
    (func $switches (type $task) (switch $kt $named (i32.const 0) (global.get $other)) (drop))
    (func $begin (global.set $other (cont.new $kt (ref.func $five))))
    (func (export "alone") (call $begin) (drop (call $switches (i32.const 0) (ref.null $kt))))
    (func (export "still") (result i32) (resume $kt (i32.const 0) (ref.null $kt) (global.get $other)))
    (func (export "label") (call $begin)
      (block $h (result (ref $ki_i))
        (drop (resume $kt (on $named $h) (i32.const 0) (ref.null $kt) (cont.new $kt (ref.func $switches))))
        (return))
      (drop))`,
  );
  for (const call of [label, alone]) {
    traps(call, /unhandled tag: switch with tag named/);
    assert.equal(still(), 5);
  }
});

test("S-SWITCH-9: clauses for other tags, and (on $tag $label), are passed in the search", () => {
  const { run } = instance(`${TASKS}
    (func $five (type $task) (i32.const 5))
    (func $switches (type $task) (switch $kt $swap (i32.const 0) (cont.new $kt (ref.func $five))) (drop))
    (func $between (type $task)
      (block $h (result (ref $ki_i))
        (drop (resume $kt (on $swap $h) (on $named switch)
          (i32.const 0) (ref.null $kt) (cont.new $kt (ref.func $switches))))
        (unreachable))
      (unreachable))
    (func (export "run") (result i32)
      (resume $kt (on $swap switch) (i32.const 0) (ref.null $kt) (cont.new $kt (ref.func $between))))`);
  assert.equal(run(), 5); // in the place of $between, which stays suspended
});

test("S-SWITCH-10: the handler stays with the resume: whoever returns there last, ends it", () => {
  const { run, seen } = instance(`${TASKS}
    (func $hop (type $task) (call $see (local.get 0))
      (if (i32.eqz (local.get 0)) (then (return (i32.const 9))))
      (switch $kt $swap (i32.sub (local.get 0) (i32.const 1)) (cont.new $kt (ref.func $hop))) (drop))
    (func (export "run") (result i32)
      (resume $kt (on $swap switch) (i32.const 4) (ref.null $kt) (cont.new $kt (ref.func $hop))))`);
  assert.equal(run(), 9);
  assert.deepEqual(seen, [4, 3, 2, 1, 0]);
});

test("S-SWITCH-11: it does what a suspend does whose handler resumes the other at once", () => {
  const suspending = instance(`${TASKS}
    (tag $please (param i32) (result i32 (ref null $kt)))
    (global $to (mut (ref null $kt)) (ref.null $kt))
    (func $player (type $task)
      (loop $again
        (call $see (local.get 0))
        (if (i32.ge_s (local.get 0) (i32.const 7)) (then (return (local.get 0))))
        (global.set $to (local.get 1))
        (suspend $please (i32.add (local.get 0) (i32.const 1)))
        (local.set 1) (local.set 0)
        (br $again))
      (unreachable))
    (func $first (type $task)
      (global.set $to (cont.new $kt (ref.func $player)))
      (suspend $please (local.get 0))
      (local.set 1) (local.set 0)
      (return_call $player (local.get 0) (local.get 1)))
    (func (export "run") (result i32) (local $i i32) (local $from (ref null $kt))
      (global.set $to (cont.new $kt (ref.func $first)))
      (loop $again
        (block $h (result i32 (ref $kt))
          (return (resume $kt (on $please $h) (local.get $i) (local.get $from) (global.get $to))))
        (local.set $from) (local.set $i)
        (br $again))
      (unreachable))`);
  const switching = instance(PING);
  assert.equal(suspending.run(), switching.run(7));
  assert.deepEqual(suspending.seen, switching.seen);
});

test("S-SWITCH-12: what suspends or throws after a switch reaches the resume that holds the handler", () => {
  const { suspends, throws } = instance(`${TASKS}
    (func $asks (type $task) (suspend $ask (i32.const 6)))
    (func $fails (type $task) (throw $error (i32.const 8)))
    (func $first (type $task)
      (block $caught (result i32)
        (try_table (catch $error $caught)
          (block (result (ref $kt))
            (if (result (ref $kt)) (local.get 0)
              (then (cont.new $kt (ref.func $fails))) (else (cont.new $kt (ref.func $asks)))))
          (local.set 1)
          (switch $kt $swap (i32.const 0) (local.get 1)) (local.set 1) (local.set 0))
        (unreachable))
      (unreachable))
    (func $run (param i32) (result i32)
      (block $caught (result i32)
        (block $asked (result i32 (ref $ki_i))
          (try_table (catch $error $caught)
            (drop (resume $kt (on $swap switch) (on $ask $asked)
              (local.get 0) (ref.null $kt) (cont.new $kt (ref.func $first)))))
          (unreachable))
        (drop) (return (i32.add (i32.const 100))))
      (i32.add (i32.const 200)))
    (func (export "suspends") (result i32) (call $run (i32.const 0)))
    (func (export "throws") (result i32) (call $run (i32.const 1)))`);
  assert.equal(suspends(), 106);
  assert.equal(throws(), 208);
});
