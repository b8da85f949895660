// A frame that nobody needs any more stays in its place, for whoever leaves the stack next (polyfill/lower/driver.wat,
// bits of $site). Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gc } from "./gc.mjs";
import { instance } from "./instructions.mjs";

// Whoever is asked answers with ten times the question.
const RUN = `
  (func $run (param $k (ref null $ki_i)) (param $v i32) (result i32)
    (loop $l
      (block $h (result i32 (ref $ki_i))
        (return (resume $ki_i (on $ask $h) (local.get $v) (local.get $k))))
      (local.set $k) (local.set $v)
      (local.set $v (i32.mul (local.get $v) (i32.const 10)))
      (br $l))
    (unreachable))`;

/** How many frames have been made. */
function made() {
  const [key] = Object.getOwnPropertySymbols(globalThis).filter(({ description }) =>
    description.startsWith("fiberfill.lower."),
  );
  return globalThis[key].driver.frames.value;
}

test("a function that suspends each time that it is called makes one frame, not one a call", () => {
  const { all } = instance(`${RUN}
    (func $asks (param $a i32) (param $b i32) (result i32)
      (i32.add (i32.mul (suspend $ask (local.get $a)) (local.get $b)) (local.get $a)))
    (func $many (type $fi_i) (local $sum i32)
      (loop $l
        (local.set $sum (i32.add (local.get $sum) (call $asks (local.get 0) (i32.const 3))))
        (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
      (local.get $sum))
    (func (export "all") (param i32) (result i32) (call $run (cont.new $ki_i (ref.func $many)) (local.get 0)))`);
  const sum = (n) => (31 * n * (n + 1)) / 2;
  assert.equal(all(10), sum(10));
  const before = made();
  assert.equal(all(5000), sum(5000));
  assert.ok(made() - before < 10, `${made() - before} frames`);
});

test("functions whose frames have one form take each other's, and each goes on where it was left", () => {
  const { all } = instance(`${RUN}
    (func $add (param $a i32) (param $b i32) (result i32)
      (i32.add (i32.add (suspend $ask (local.get $a)) (local.get $b)) (local.get $a)))
    (func $sub (param $a i32) (param $b i32) (result i32)
      (i32.sub (i32.sub (suspend $ask (local.get $b)) (local.get $b)) (local.get $a)))
    (func $other (param $a i32) (result i32) (suspend $ask (local.get $a)))
    (func $many (type $fi_i) (local $sum i32)
      (loop $l
        (local.set $sum (i32.add (local.get $sum) (call $add (local.get 0) (i32.const 3))))
        (local.set $sum (i32.add (local.get $sum) (call $sub (local.get 0) (i32.const 5))))
        (local.set $sum (i32.add (local.get $sum) (call $other (local.get 0))))
        (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
      (local.get $sum))
    (func (export "all") (param i32) (result i32) (call $run (cont.new $ki_i (ref.func $many)) (local.get 0)))`);
  let want = 0;
  for (let n = 100; n > 0; n--) want += n * 10 + 3 + n + (50 - 5 - n) + n * 10;
  assert.equal(all(100), want);
});

test("a frame that is kept keeps nothing else alive", async () => {
  let held;
  let alive;
  const see = () => {
    throws(); // the driver remembers one exception's frames, to name them
    gc();
    alive = held.deref() !== undefined;
  };
  const { start, next, throws } = instance(
    `
    (global $k (mut (ref null $ki_i)) (ref.null $ki_i))
    (global $o (mut externref) (ref.null extern))
    (func $asks (result i32) (suspend $ask (i32.const 1)))
    (func $deep (param $n i32)
      (local $o externref)
      (local.set $o (global.get $o))
      (if (local.get $n)
        (then (call $deep (i32.sub (local.get $n) (i32.const 1))))
        (else (global.set $o (ref.null extern)) (throw $error (call $asks))))
      (global.set $o (local.get $o)))
    ;; Its frames are dropped by an exception, after the function that suspended has returned.
    (func $body (type $fi_i)
      (block $h (result i32) (try_table (catch $error $h) (call $deep (i32.const 3))) (unreachable))
      (call $see (i32.const 0)))
    (func (export "start") (param externref)
      (global.set $o (local.get 0))
      (block $h (result i32 (ref $ki_i))
        (drop (resume $ki_i (on $ask $h) (i32.const 0) (cont.new $ki_i (ref.func $body)))) (return))
      (global.set $k) (drop))
    (func $fails (type $fi_i) (throw $error (suspend $ask (i32.const 1))))
    (func (export "throws") (local $k (ref null $ki_i))
      (block $h (result i32 (ref $ki_i))
        (drop (resume $ki_i (on $ask $h) (i32.const 0) (cont.new $ki_i (ref.func $fails)))) (return))
      (local.set $k) (drop)
      (drop (block $e (result i32) (try_table (result i32) (catch $error $e)
        (resume $ki_i (i32.const 5) (local.get $k))))))
    (func (export "next") (result i32) (resume $ki_i (i32.const 5) (global.get $k)))`,
    { env: { see } },
  );
  held = new WeakRef({});
  start(held.deref());
  await new Promise((resolve) => setTimeout(resolve)); // a WeakRef holds what it was asked for until the job ends
  see();
  assert.ok(alive, "the continuation holds it");
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(next(), 5);
  assert.equal(alive, false);
});
