// Traps, exceptions and imports between continuations: whatever goes wrong, what is called next finds nothing of it.
// Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { instance, traps, UNHANDLED } from "./instructions.mjs";

// A continuation in which a function of the host is called so many resumes deep, with handlers all the way; what can be
// called afterwards, by name and through the table.
const GUEST = `
  (import "env" "host" (func $host (param i32) (result i32)))
  (table (export "table") 2 funcref)
  (elem (i32.const 0) func $generator $lonely)
  (func $lonely (export "lonely") (result i32) (suspend $ask (i32.const 1)))
  (func $yields (type $f_i) (i32.add (suspend $ask (i32.const 2)) (suspend $ask (i32.const 3))))
  (func $generator (export "generator") (result i32) (local $k (ref null $ki_i)) (local $v i32)
    (block $h (result i32 (ref $ki_i)) (return (resume $k_i (on $ask $h) (cont.new $k_i (ref.func $yields)))))
    (local.set $k) (local.set $v)
    (loop $l
      (block $h (result i32 (ref $ki_i))
        (return (resume $ki_i (on $ask $h) (i32.mul (local.get $v) (i32.const 10)) (local.get $k))))
      (local.set $k) (local.set $v) (br $l))
    (unreachable))
  (func $deep (type $fi_i) (local $v i32)
    (if (i32.eqz (local.get 0)) (then
      (return (i32.add (call $host (i32.const 7)) (suspend $ask (i32.const 4))))))
    (block $h (result (ref $k_i))
      (return (i32.add (i32.const 1)
        (resume $ki_i (on $stop $h) (i32.sub (local.get 0) (i32.const 1)) (cont.new $ki_i (ref.func $deep))))))
    (unreachable))
  (func (export "enter") (param i32) (result i32) (local $k (ref null $ki_i)) (local $v i32)
    (block $h (result i32 (ref $ki_i))
      (return (resume $ki_i (on $ask $h) (local.get 0) (cont.new $ki_i (ref.func $deep)))))
    (local.set $k) (local.set $v)
    (resume $ki_i (i32.mul (local.get $v) (i32.const 100)) (local.get $k)))
  (func (export "catching") (param i32) (result i32)
    (block $caught (result i32)
      (block $all
        (try_table (result i32) (catch $error $caught) (catch_all $all)
          (resume $ki_i (local.get 0) (cont.new $ki_i (ref.func $deep))))
        (return))
      (i32.const -2)))
  (func (export "trap") (unreachable))
  (func (export "throw") (throw $error (i32.const 55)))
  (func (export "overflow") (result i32) (call $endless (i32.const 0)))
  (func $endless (param i32) (result i32)
    (i32.add (call $endless (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))`;

const guest = (host) => instance(GUEST, { env: { host } });

/** Everything that may be called afterwards does what it always does. */
function sound({ generator, lonely, enter, table }) {
  assert.equal(generator(), 50);
  traps(lonely, UNHANDLED);
  assert.equal(table.get(0)(), 50);
  traps(() => table.get(1)(), UNHANDLED);
  assert.equal(enter(3), 3 + 7 + 400);
}

const fine = (v) => v;

test("a trap of JavaScript's calls, so many resumes deep, leaves nothing behind", () => {
  for (const depth of [0, 1, 5, 499, 500, 501, 700]) {
    let host = fine;
    const made = guest((v) => host(v));
    sound(made);
    for (const [end, kind] of [
      ["trap", WebAssembly.RuntimeError],
      ["overflow", RangeError],
    ]) {
      host = () => made[end]();
      assert.throws(() => made.enter(depth), kind);
      host = fine;
      sound(made);
    }
  }
});

test("a trap that an import catches: its caller goes on, and can still be suspended", () => {
  let host = fine;
  const made = guest((v) => host(v));
  const caught = (call) => (v) => {
    const before = host;
    host = fine;
    assert.throws(call);
    host = fine;
    sound(made);
    host = before;
    return v;
  };
  for (const depth of [0, 1, 20, 501]) {
    host = caught(made.trap);
    assert.equal(made.enter(depth), depth + 7 + 400);
    host = caught(made.overflow);
    assert.equal(made.enter(depth), depth + 7 + 400);
    // A trap two resumes inside of each other, below an import inside of a resume.
    host = caught(() => {
      host = () => made.trap();
      made.enter(2);
    });
    assert.equal(made.enter(depth), depth + 7 + 400);
  }
  host = fine;
  sound(made);
});

test("an exception of JavaScript's or a guest's passes through resumes, and is caught by wasm or JavaScript", () => {
  let host = fine;
  const made = guest((v) => host(v));
  for (const depth of [0, 1, 20, 501, 700]) {
    const mine = new Error("mine");
    host = () => {
      throw mine;
    };
    assert.equal(made.catching(depth), -2);
    assert.throws(
      () => made.enter(depth),
      (e) => e === mine,
    );
    host = () => made.throw();
    assert.equal(made.catching(depth), 55);
    assert.throws(() => made.enter(depth), WebAssembly.Exception);
    host = fine;
    sound(made);
  }
});

test("no number of traps adds up to anything", () => {
  let host = fine;
  const made = guest((v) => host(v));
  host = () => made.trap();
  for (let i = 0; i < 3000; i++) assert.throws(() => made.enter(2), WebAssembly.RuntimeError);
  host = fine;
  sound(made);
  assert.equal(made.enter(700), 700 + 7 + 400);
});
