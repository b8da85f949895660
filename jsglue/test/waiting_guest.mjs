// A guest for tests: the test ends its waits, and it reacts to a cancellation in the ways that programs do.

import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

const wat = `(module
  (import "env" "wait" (func $wait (param i32) (result i32)))
  (import "env" "note" (func $note (param i32)))
  (import "fiberfill" "yield" (func $yield))
  (import "fiberfill" "sleep_ms" (func $sleep (param i32)))

  (func (export "wait") (param $n i32) (result i32)
    (call $wait (local.get $n)))

  ;; Waits twice.
  (func (export "twice") (param $n i32) (result i32)
    (i32.add (call $wait (local.get $n)) (call $wait (i32.add (local.get $n) (i32.const 1)))))

  (func (export "sleeping") (param $ms i32) (result i32)
    (call $sleep (local.get $ms))
    (call $note (i32.const 9))
    (i32.const 9))

  ;; The wait of careful: for gate n, or, if n is negative, of another kind.
  (func $any (param $n i32) (result i32)
    (if (i32.eq (local.get $n) (i32.const -1)) (then (call $yield) (return (i32.const 0))))
    (if (i32.eq (local.get $n) (i32.const -2)) (then (call $sleep (i32.const 100000)) (return (i32.const 0))))
    (call $wait (local.get $n)))

  ;; Waits, then waits as careful does.
  (func (export "later") (param $n i32) (result i32)
    (i32.add (call $any (local.get $n)) (call $careful (i32.add (local.get $n) (i32.const 1)) (i32.const 1))))

  ;; Notes 1 when its wait throws, begins this many more waits, all of which throw, notes 2, and rethrows the first
  ;; exception.
  (func $careful (export "careful") (param $n i32) (param $waits i32) (result i32)
    (local $thrown exnref)
    (block $caught (result exnref)
      (try_table (catch_all_ref $caught)
        (return (call $any (local.get $n))))
      (unreachable))
    (local.set $thrown)
    (call $note (i32.const 1))
    (loop $again
      (if (local.get $waits) (then
        (local.set $waits (i32.sub (local.get $waits) (i32.const 1)))
        (block $ignored
          (try_table (catch_all $ignored)
            (if (i32.and (local.get $waits) (i32.const 1))
              (then (call $yield))
              (else (drop (call $wait (local.get $n)))))))
        (br $again))))
    (call $note (i32.const 2))
    (throw_ref (local.get $thrown)))

  ;; Catches whatever its wait throws, and returns -1.
  (func (export "swallow") (param $n i32) (result i32)
    (block $caught
      (try_table (catch_all $caught)
        (return (call $wait (local.get $n)))))
    (i32.const -1))

  ;; Catches, and waits again, for ever.
  (func (export "forever") (param $n i32) (result i32)
    (loop $again
      (block $caught
        (try_table (catch_all $caught)
          (return (call $wait (local.get $n)))))
      (br $again))
    (unreachable))

  ;; Traps when its wait throws.
  (func (export "clumsy") (param $n i32) (result i32)
    (block $caught
      (try_table (catch_all $caught)
        (return (call $wait (local.get $n)))))
    (unreachable))

)`;

const bytes = assemble(wat);

/** Lets the event loop run until a condition holds. */
export async function until(condition) {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

/** Resolves when fibers wait at these gates of a guest: they have called its import. */
export const began = (g, ...gates) => Promise.all(gates.map((n) => g.gate(n).began));

/** Resolves to what a Promise rejects with. */
export const rejection = (promise) =>
  promise.then(
    (value) => {
      throw new Error(`resolved with ${value}`);
    },
    (error) => error,
  );

/** Resolves to what a Promise rejects with. Node stays alive for it, which it does not for an AbortSignal.timeout. */
export function rejectionInTime(promise) {
  const timer = setInterval(() => {}, 1000);
  return rejection(promise).finally(() => clearInterval(timer));
}

/** Returns the unhandled rejections that escaped while fn ran. */
export async function escaped(fn) {
  const errors = [];
  const last = new Error("the last rejection");
  const before = process.listeners("unhandledRejection"); // the test runner's listeners
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => errors.push(error));
  try {
    await fn();
    Promise.reject(last); // a browser tells of rejections some time after they happened, but in order
    await until(() => errors.includes(last));
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const listener of before) process.on("unhandledRejection", listener);
  }
  return errors.slice(0, errors.indexOf(last));
}

/**
 * An instance. `gate(n)` is what wait(n) waits for: its `began` resolves when a fiber calls the import; `resolve` and
 * `reject` end the wait. `trail` has the name of every fiber that has noted something. `onWait` and `onNote` run inside
 * the imports.
 */
export async function waitingGuest({ deliver = false } = {}) {
  const gates = new Map();
  const g = {
    trail: [],
    calls: 0, // calls of the import wait
    onWait: (n) => g.gate(n).promise,
    onDeliver: undefined, // called with the value
    onNote: (what) => void g.trail.push(`${fiberfill.current().name} ${what}`),
    gate(n) {
      if (!gates.has(n)) {
        const began = Promise.withResolvers();
        gates.set(n, { ...Promise.withResolvers(), began: began.promise, begin: began.resolve });
      }
      return gates.get(n);
    },
  };
  const { exports } = await fiberfill.instantiate(bytes, {
    env: {
      wait: fiberfill.suspending(
        (n) => {
          g.calls++;
          g.gate(n).begin();
          return g.onWait(n);
        },
        ...(deliver ? [(value) => g.onDeliver(value)] : []),
      ),
      note: (what) => g.onNote(what),
    },
  });
  /** Makes a call with a name: g.call("careful", "a")(1, 0). */
  g.call = (title, name, signal) => exports[title].with({ name, ...(signal && { signal }) });
  g.exports = exports;
  return g;
}
