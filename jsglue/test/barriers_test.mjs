// A suspension traps if a function that cannot be left lies in between, however the rewritten module has come by it. A
// barrier changes nothing else: types of functions, tail calls. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly as lowering } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";
import { UNHANDLED } from "./instructions.mjs";

const { RuntimeError } = WebAssembly;
const instance = (text, imports, options) =>
  new lowering.Instance(new lowering.Module(assemble(text), options), imports).exports;
const hidden = (call) => assert.throws(call, (e) => e instanceof RuntimeError && UNHANDLED.test(e.message));

const FUNCTIONS = `
  (rec (type $S (sub (func (result i32)))))
  (rec (type $T (sub final $S (func (result i32)))))`;

/** run() makes a call in a continuation, and resumes that once. It returns what the call has returned. */
const guest = (call, { imports = "", table = '(table (export "table") 4 funcref)' } = {}) => `(module ${FUNCTIONS}
  (type $f (func)) (type $c (cont $f))
  ${imports}
  ${table}
  (tag $y)
  (global $result (mut i32) (i32.const -1))
  (elem declare func $body)
  (func (export "inner") (result i32) (suspend $y) (i32.const 5))
  (func $body (global.set $result ${call}))
  (func (export "run") (result i32)
    (block $h (result (ref $c))
      (resume $c (on $y $h) (cont.new $c (ref.func $body)))
      (return (global.get $result)))
    (resume $c)
    (global.get $result)))`;

/** A module that is not lowered: calls() calls inner, which suspends; plain() does not. */
const plain = (inner, type) =>
  instance(
    `(module ${FUNCTIONS}
      (import "guest" "inner" (func $inner (result i32)))
      (func (export "calls") (type ${type}) (i32.add (i32.const 10) (call $inner)))
      (func (export "plain") (type ${type}) (i32.const 20)))`,
    { guest: { inner } },
  );

const TYPED = '(table (export "table") 4 (ref null $S))';
for (const [name, call, table] of [
  ["call_indirect", "(call_indirect (type $S) (i32.const 0))"],
  ["table.get and call_ref", "(call_ref $S (ref.cast (ref $S) (table.get 0 (i32.const 0))))"],
  ["table.get of a typed table and call_ref", "(call_ref $S (table.get 0 (i32.const 0)))", TYPED],
])
  test(`what JavaScript has put into a table, called by ${name}`, () => {
    const { table: shared, inner, run } = instance(guest(call, { table }));
    const { calls, plain: answers } = plain(inner, "$S");
    shared.set(0, calls);
    hidden(run);
    shared.set(0, answers);
    assert.equal(run(), 20);
  });

test("a function behind a barrier keeps its own type", () => {
  const call = `(i32.add (call_indirect (type $T) (i32.const 0))
    (i32.add (call_indirect (type $S) (i32.const 0)) (ref.test (ref $T) (table.get 0 (i32.const 0)))))`;
  for (const table of [undefined, '(table (export "table") 4 (ref null $T))']) {
    const { table: shared, inner, run } = instance(guest(call, { table }));
    shared.set(0, plain(inner, "$T").plain);
    assert.equal(run(), 41);
  }
});

test("what lies in a table with 64-bit indices, and what JavaScript and a plain module put there", () => {
  const table = '(table (export "table") i64 4 funcref)';
  const call = "(call_indirect (type $S) (i64.const 0))";
  const first = instance(guest(call, { table }));
  const { calls, plain: answers } = plain(first.inner, "$S");
  first.table.set(0n, calls);
  hidden(first.run);
  const shared = { imports: '(import "m" "table" (table i64 4 funcref))', table: "" };
  hidden(instance(guest(call, shared), { m: first }).run);
  const segment = `(module ${FUNCTIONS}
    (import "m" "table" (table i64 4 funcref)) (import "m" "f" (func $f (type $S)))
    (elem (i64.const 0) func $f))`;
  instance(segment, { m: { table: first.table, f: answers } });
  assert.equal(first.run(), 20);
  instance(segment, { m: { table: first.table, f: calls } });
  hidden(first.run);
});

test("a table of what JavaScript cannot get holds no functions", () => {
  const made = instance('(module (table (export "table") 1 exnref))');
  const imports = '(import "m" "table" (table 1 exnref))';
  const table = "(table 4 funcref)";
  const { run } = instance(guest("(ref.is_null (table.get 0 (i32.const 0)))", { imports, table }), { m: made });
  assert.equal(run(), 1);
  const plainly = instance('(module (import "m" "table" (table 1 exnref)) (export "table" (table 0)))', { m: made });
  assert.equal(plainly.table, made.table);
});

test("a function that a plain module has written to a table, and JavaScript has read", () => {
  const { table, inner } = instance(guest("(call_indirect (type $S) (i32.const 0))"));
  const writer = instance(
    `(module
      (import "guest" "table" (table 1 funcref))
      (import "guest" "inner" (func $inner (result i32)))
      (elem declare func $f)
      (func $f (result i32) (i32.add (i32.const 10) (call $inner)))
      (func (export "write") (table.set (i32.const 1) (ref.func $f))))`,
    { guest: { table, inner } },
  );
  writer.write();
  const imports = '(import "m" "f" (func $imported (result i32)))';
  const { run } = instance(guest("(call $imported)", { imports }), { m: { f: table.get(1) } });
  hidden(run);
});

test("so it is if the plain module has made the table", () => {
  const writer = instance(`(module
    (table (export "table") 4 funcref)
    (global $inner (export "inner") (mut funcref) (ref.null func))
    (type $S (func (result i32)))
    (elem declare func $f)
    (func $f (type $S) (i32.add (i32.const 10) (call_ref $S (ref.cast (ref $S) (global.get $inner)))))
    (func (export "write") (table.set (i32.const 1) (ref.func $f))))`);
  const { table } = writer;
  const shared = { imports: '(import "m" "table" (table 4 funcref))', table: "" };
  const { inner } = instance(guest("(call_indirect (type $S) (i32.const 0))", shared), { m: { table } });
  writer.inner.value = inner;
  writer.write();
  const imports = '(import "m" "f" (func $imported (result i32)))';
  const { run } = instance(guest("(call $imported)", { imports }), { m: { f: table.get(1) } });
  hidden(run);
});

test('a function from a module named "wasm:…" is taken for the engine\'s, so it is behind a barrier', () => {
  const { inner } = instance(guest("(i32.const 0)"));
  const imports = '(import "wasm:mine" "f" (func $f (result i32)))';
  hidden(instance(guest("(call $f)", { imports }), { "wasm:mine": { f: inner } }).run);
});

const builtins = (() => {
  try {
    const imports = '(import "wasm:js-string" "length" (func $length (param externref) (result i32)))';
    new WebAssembly.Instance(new WebAssembly.Module(assemble(`(module ${imports})`), { builtins: ["js-string"] }), {});
    return imports;
  } catch {
    return undefined; // this engine provides none
  }
})();

if (builtins) {
  test("a module that imports only builtins needs no import object", () => {
    assert.equal(
      instance(guest("(i32.const 3)", { imports: builtins }), undefined, { builtins: ["js-string"] }).run(),
      3,
    );
  });

  test("builtins of the engine's, which need no barrier, leave no import without one", () => {
    const imports = `${builtins} (import "m" "f" (func $f (result i32)))`;
    const { run, inner } = instance(
      guest("(call $f)", { imports }),
      { m: { f: () => inner() } },
      { builtins: ["js-string"] },
    );
    hidden(run);
  });
}

// Each turn calls the next one through a reference to an exported function, a table, or another module.
const TURNS = 1e6;
for (const [name, call] of [
  ["a reference", "(return_call_ref $turn (local.get $left) (ref.func $turns))"],
  ["a table", "(return_call_indirect (type $turn) (local.get $left) (i32.const 0))"],
  ["another module", "(return_call $other (local.get $left))"],
])
  test(`a million tail calls through ${name} need no stack`, () => {
    const other = instance(`(module
      (table (export "table") 1 funcref)
      (type $turn (func (param i32) (result i32)))
      (func (export "other") (type $turn) (return_call_indirect (type $turn) (local.get 0) (i32.const 0))))`);
    const { turns } = instance(
      `(module
      (type $f (func)) (type $c (cont $f)) (type $turn (func (param i32) (result i32)))
      (import "other" "other" (func $other (type $turn)))
      (table $table 1 funcref) (elem (table $table) (i32.const 0) func $turns)
      (tag $y)
      (elem declare func $body)
      (func $body (suspend $y))
      (func $turns (export "turns") (param $left i32) (result i32)
        (if (i32.eqz (local.get $left)) (then
          (drop (block $h (result (ref $c))
            (resume $c (on $y $h) (cont.new $c (ref.func $body)))
            (return (i32.const 1))))
          (return (i32.const 2))))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        ${call}))`,
      { other },
    );
    other.table.set(0, turns);
    assert.equal(turns(TURNS), 2);
  });
