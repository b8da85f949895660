// The older exceptions on stacks of fiberfill's own: functions are left and entered again inside of try and catch, and
// do what they do in the engine alone, whose own older exceptions are the oracle. Run over web/dist/npm.
//
// FIBERFILL_SEED is the seed of the first random module, FIBERFILL_LEGACY how many are compared.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./without_jspi.mjs";
import { assemble } from "./assemble.mjs";
import { FUEL, FUNCTIONS, legacyModule } from "./legacy_modules.mjs";

const { WebAssembly: ours } = await import("../../web/dist/npm/esm/webassembly.js");
const { fibers } = await import("../../web/dist/npm/esm/index.js");
const plain = globalThis.WebAssembly;

const SEED = Number(process.env.FIBERFILL_SEED ?? 1);
const COUNT = Number(process.env.FIBERFILL_LEGACY ?? 300);

class Thrown extends Error {}

/** The answer of a wait, which throws now and then. */
function answer(n) {
  if ((n & 15) === 5) throw new Thrown(`wait ${n}`);
  return (Math.imul(n, 3) + 1) | 0;
}

/**
 * Makes an instance and calls its functions f… one after another. How says whether wait waits ("waits"), is a plain
 * import of a module that has been rewritten all the same ("lowered"), or the engine does it alone ("plain").
 */
async function play(bytes, how, calls) {
  const wasm = how === "plain" ? plain : ours;
  const log = [];
  const wait = (n) => {
    log.push(`wait ${n}`);
    return answer(n);
  };
  const waiting = async (n) => {
    if (n & 1) await undefined;
    if (n & 4) await new Promise(setImmediate);
    return wait(n);
  };
  const env = {
    wait: how === "waits" ? new ours.Suspending(waiting) : wait,
    note: (n) => void log.push(n),
    js: plain.JSTag,
  };
  const module = how === "lowered" ? await wasm.compile(bytes, { lower: true }) : new wasm.Module(bytes);
  const { exports } = new wasm.Instance(module, { env });
  const tags = Object.entries(exports).filter(([, it]) => it instanceof plain.Tag);
  const seen = [];
  for (const [name, n] of calls) {
    if (exports.fuel) exports.fuel.value = FUEL;
    let end;
    try {
      end = how === "waits" ? await ours.promising(exports[name])(n) : exports[name](n);
    } catch (error) {
      end = error.message?.replace(/ \(evaluating .*/, ""); // JavaScriptCore adds what JavaScript did
      if (error instanceof plain.Exception) end = tags.filter(([, tag]) => error.is(tag)).map(([tag]) => tag);
    }
    seen.push([name, n, end, ...log.splice(0)]);
  }
  return seen;
}

async function same(bytes, calls, seed) {
  const expected = await play(bytes, "plain", calls);
  assert.deepEqual(await play(bytes, "lowered", calls), expected, `seed ${seed}, rewritten`);
  assert.deepEqual(await play(bytes, "waits", calls), expected, `seed ${seed}, and it waits`);
  return expected;
}

/** A function f (i32 -> i32), in text, called with some numbers: what it returns for them. */
function shape(name, functions, returned) {
  test(name, async () => {
    const bytes = assemble(`(module
      (import "env" "wait" (func $wait (param i32) (result i32)))
      (import "env" "note" (func $note (param i32)))
      (import "env" "js" (tag $js (param externref)))
      (tag $e (export "e") (param i32)) (tag $two (export "two") (param i32 i64)) (tag $none (export "none"))
      ;; Waits, and throws $e with n, or what wait throws, or nothing.
      (func $throws (param $n i32) (result i32)
        (if (i32.eqz (i32.and (call $wait (local.get $n)) (i32.const 1))) (then (throw $e (local.get $n))))
        (local.get $n))
      ${functions})`);
    const numbers = Object.keys(returned).map(Number);
    const seen = await same(
      bytes,
      numbers.map((n) => ["f", n]),
    );
    assert.deepEqual(Object.fromEntries(seen.map(([, n, end]) => [n, end])), returned);
  });
}

// wait returns 3n + 1, and throws for 5; $throws throws $e for odd numbers.

shape(
  "a wait inside of try, with operands below, whose exception is caught",
  `(func (export "f") (param i32) (result i32)
    (i32.add (i32.mul (local.get 0) (i32.const 100))
      (try (result i32)
        (do (i32.add (local.get 0) (call $throws (local.get 0))))
        (catch $e (i32.add (i32.const 7)))
        (catch_all (i32.const -1)))))`,
  { 2: 204, 3: 310, 5: 499 },
);

shape(
  "a wait inside of catch, and rethrow behind it",
  `(func $g (param i32) (result i32)
    (try (result i32)
      (do (call $throws (local.get 0)))
      (catch $e (call $wait) (call $note) (rethrow 0))))
  (func (export "f") (param i32) (result i32)
    (try (result i32)
      (do (call $g (local.get 0)))
      (catch $e (call $wait))
      (catch_all (call $wait (i32.const 2)))))`,
  { 2: 2, 3: 10, 5: 7 },
);

shape(
  "rethrow of the outer exception, from a catch inside of a catch, each with waits",
  `(func $g (param i32) (result i32)
    (try (result i32)
      (do (call $throws (local.get 0)))
      (catch_all
        (try (result i32)
          (do (throw $two (call $wait (local.get 0)) (i64.const 9)))
          (catch $two (drop)
            (call $note (call $wait))
            (if (i32.eq (local.get 0) (i32.const 3)) (then (rethrow 2)))
            (rethrow 0))))))
  (func (export "f") (param i32) (result i32)
    (try (result i32)
      (do (call $g (local.get 0)))
      (catch $e (i32.add (i32.const 1000)))
      (catch $two (drop))))`,
  { 2: 2, 3: 1003, 7: 22 },
);

shape(
  "delegate to the try around it, past another one, to a block, out of a catch, and to the caller",
  `(func $g (param i32) (result i32)
    (try $outer (result i32)
      (do
        (try (result i32)
          (do
            (block $b (result i32)
              (block (br_if 0 (i32.ne (local.get 0) (i32.const 1)))
                (br $b (try (result i32) (do (call $throws (i32.const 1))) (delegate $outer))))
              (block (br_if 0 (i32.ne (local.get 0) (i32.const 3)))
                (br $b (try (result i32) (do (call $throws (i32.const 3))) (delegate $b))))
              (try (result i32) (do (call $throws (local.get 0))) (delegate 3))))
          (catch $e (drop) (i32.const 333))))
      (catch $e (drop) (call $wait (i32.const 6)))))
  (func (export "f") (param i32) (result i32)
    (try (result i32) (do (call $g (local.get 0)))
      (catch $e (i32.add (call $wait (i32.const 8))))))`,
  { 1: 19, 3: 333, 7: 32, 2: 2 },
);

shape(
  "delegate to a try in whose catch it is goes past it",
  `(func $g (param i32) (result i32)
    (try $t (result i32)
      (do (throw $none))
      (catch_all (try (result i32) (do (call $throws (local.get 0))) (delegate $t)))))
  (func (export "f") (param i32) (result i32)
    (try (result i32) (do (call $g (local.get 0))) (catch $e (i32.const 10) (i32.add))))`,
  { 2: 2, 3: 13, 5: "wait 5" },
);

shape(
  "a try that delegates has another delegate to it",
  `(func (export "f") (param i32) (result i32)
    (try (result i32)
      (do
        (try $d (result i32)
          (do (try (result i32) (do (call $throws (local.get 0))) (delegate $d)))
          (delegate 0)))
      (catch $e (i32.add (call $wait (i32.const 2))))))`,
  { 2: 2, 3: 10 },
);

shape(
  "branches out of try and catch to every label, also to that of the try itself",
  `(func (export "f") (param i32) (result i32)
    (block $out (result i32)
      (try $t (result i32)
        (do
          (drop (br_if $t (i32.const 11) (i32.eq (call $wait (local.get 0)) (i32.const 7))))
          (br_table $t $out (call $throws (local.get 0)) (i32.const 4)))
        (catch $e
          (drop (br_if $t (call $wait (i32.const 2)) (i32.eq (i32.const 7) (local.get 0))))
          (br $out)))
      (i32.add (i32.const 500))))`,
  { 2: 511, 4: 4, 7: 507, 3: 3 },
);

shape(
  "a catch in a loop catches a new exception each time round, while waiting in between",
  `(func (export "f") (param i32) (result i32) (local $sum i32)
    (loop $again
      (try
        (do (local.set $sum (i32.add (local.get $sum) (call $throws (local.get 0)))))
        (catch $e
          (call $wait)
          (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 10))))
          (try (do (rethrow 1)) (catch_all (call $note (call $wait (i32.const 1))))))
        (catch_all (local.set $sum (i32.add (local.get $sum) (i32.const 5000)))))
      (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get $sum))`,
  { 1: 4, 2: 24, 3: 124, 4: 524, 6: ((6 + 5000 + 4) * 10 + 10 + 2) * 10 + 4 },
);

shape(
  "an exception with several values, a try without a catch, a try whose end is not reached",
  `(func $g (param i32) (result i32)
    (try (result i32)
      (do (try (do (drop (call $throws (local.get 0))))) (local.get 0))
      (catch $e (throw $two (i64.const 40)))))
  (func (export "f") (param i32) (result i32) (local i64)
    (try
      (do (return (call $g (local.get 0))))
      (catch $two
        (local.set 1)
        (return (i32.add (i32.wrap_i64 (local.get 1)) (i32.add (call $wait (i32.const 2)))))))
    (unreachable))`,
  { 2: 2, 3: 50, 5: "wait 5" },
);

shape(
  "what JavaScript throws, caught with its tag and rethrown",
  `(func $g (param i32) (result i32)
    (try (result i32)
      (do (call $throws (local.get 0)))
      (catch $js (drop) (call $note (call $wait (i32.const 2))) (rethrow 0))))
  (func (export "f") (param i32) (result i32)
    (if (i32.eq (local.get 0) (i32.const 21)) (then (return (call $g (i32.const 5)))))
    (try (result i32)
      (do (call $g (local.get 0)))
      (catch $js (drop) (i32.const 77))))`,
  { 2: 2, 5: 77, 21: "wait 5" },
);

shape(
  "functions that can wait and functions that cannot, both with older exceptions, in one module",
  `(func $cannot (param i32) (result i32)
    (try (result i32)
      (do (if (i32.and (local.get 0) (i32.const 1)) (then (throw $e (local.get 0)))) (i32.const 0))
      (catch $e (i32.mul (i32.const 2)))))
  (func (export "f") (param i32) (result i32)
    (i32.add (call $cannot (local.get 0)) (call $wait (local.get 0))))`,
  { 2: 7, 3: 16 },
);

test(`${COUNT} random modules from seed ${SEED}: try, catch, delegate and rethrow, waiting or not`, async () => {
  const ends = { values: 0, exceptions: 0 };
  for (let seed = SEED; seed < SEED + COUNT; seed++) {
    const calls = [];
    for (let k = 0; k < FUNCTIONS; k++) for (const n of [0, 3, 5, 9]) calls.push([`f${k}`, n]);
    for (const [, , end] of await same(legacyModule(seed), calls, seed))
      ends[typeof end === "number" ? "values" : "exceptions"]++;
  }
  assert.ok(ends.values > 4 * COUNT && ends.exceptions > 2 * COUNT, JSON.stringify(ends));
  assert.deepEqual(fibers(), []);
});
