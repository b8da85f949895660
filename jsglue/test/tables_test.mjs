// Functions that cannot be left, in tables that rewritten modules call through: a suspension below one is refused where
// it stands, and named; what does not suspend works. Both front ends: the instructions, and imports that wait on stacks
// of fiberfill's own, where the engine has none. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly as ours } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";

const plain = globalThis.WebAssembly;
const unwinds = !hasJSPI;

// caller(i, n) calls what lies in its table at i; ask suspends, or waits, and returns 3n.
const UNARY = "(type $unary (func (param i32) (result i32)))";
const BODY = `
  (func $caller (export "caller") (param $i i32) (param $n i32) (result i32)
    (i32.add (i32.const 1000) (call_indirect $t (type $unary) (local.get $n) (local.get $i))))
  (func $tail (export "tail") (param $i i32) (param $n i32) (result i32)
    (return_call_indirect $t (type $unary) (local.get $n) (local.get $i)))
  (func $own (export "own") (type $unary) (i32.add (call $ask (local.get 0)) (i32.const 1)))
  (func $inside (type $unary) (i32.add (call $ask (local.get 0)) (i32.const 2)))
  (elem (table $t) (i32.const 0) func $own $inside)`;

/** Imports come first. */
const imports = (...parts) => parts.sort((a, b) => b.startsWith("(import") - a.startsWith("(import")).join(" ");

const INSTRUCTIONS = (table, tag) => `(module ${UNARY} ${imports(table, tag)}
  (type $f (func (result i32))) (type $k (cont $f)) (type $ki (cont $unary))
  (elem declare func $body)
  (global $i (mut i32) (i32.const 0)) (global $n (mut i32) (i32.const 0))
  (func $ask (export "ask") (param i32) (result i32) (suspend $ask (local.get 0)))
  (func $body (type $f) (call $caller (global.get $i) (global.get $n)))
  (func (export "run") (param $i i32) (param $n i32) (result i32) (local $k (ref null $ki)) (local $v i32)
    (global.set $i (local.get $i)) (global.set $n (local.get $n))
    (block $h (result i32 (ref $ki)) (return (resume $k (on $ask $h) (cont.new $k (ref.func $body)))))
    (local.set $k) (local.set $v)
    (loop $l
      (block $h (result i32 (ref $ki))
        (return (resume $ki (on $ask $h) (i32.mul (local.get $v) (i32.const 3)) (local.get $k))))
      (local.set $k) (local.set $v) (br $l))
    (unreachable))
  ${BODY})`;

const WAITS = (table) => `(module ${UNARY}
  (import "env" "ask" (func $ask (param i32) (result i32)))
  ${table}
  ${BODY})`;

// Functions that cannot be left: each calls back what suspends, or, for 0, does not.
const PLAIN = assemble(`(module
  (import "env" "back" (func $back (param i32) (result i32)))
  (type $unary (func (param i32) (result i32)))
  (func (export "f") (type $unary)
    (if (result i32) (local.get 0) (then (i32.mul (i32.const 2) (call $back (local.get 0)))) (else (i32.const 77))))
  (func (export "other") (param i64) (result i64) (local.get 0)))`);

const frontEnds = {
  instructions: {
    text: INSTRUCTIONS,
    refused: (error) => error instanceof plain.RuntimeError && /unhandled tag.*not lowered/.test(error.message),
    env: {},
    run: async (exports, i, n) => exports.run(i, n),
  },
  waits: {
    text: WAITS,
    refused: (error) => error instanceof ours.SuspendError && /not rewritten/.test(error.message),
    env: { ask: new ours.Suspending(async (n) => n * 3) },
    run: (exports, i, n) => ours.promising(exports.caller)(i, n),
  },
};

// JavaScriptCore cannot call what grow has put into a table (Bun 1.2, WebKitGTK 2.50).
const growFills = (() => {
  const { table, f, call } = new plain.Instance(
    new plain.Module(
      assemble(`(module (table (export "table") 0 funcref) (func (export "f"))
        (func (export "call") (call_indirect (i32.const 0))))`),
    ),
  ).exports;
  table.grow(1, f);
  try {
    call();
    return true;
  } catch {
    return false;
  }
})();

const exported = `(table $t (export "table") 10 20 funcref)`;
const imported = `(import "env" "table" (table $t 10 20 funcref))`;
const own = `(tag $ask (export "tag") (param i32) (result i32))`;
const theirs = `(import "env" "tag" (tag $ask (param i32) (result i32)))`;

for (const [name, { text, refused, env, run }] of Object.entries(frontEnds)) {
  if (name === "waits" && !unwinds) continue; // the engine leaves plain modules' functions, too
  const make = (table, more = {}) =>
    new ours.Instance(new ours.Module(assemble(text(table, more.tag ? theirs : own))), { env: { ...env, ...more } })
      .exports;
  const between = (back) => new plain.Instance(new plain.Module(PLAIN), { env: { back } }).exports;

  /** What lies at i cannot be left: it works unless something suspends below it. */
  async function guards(exports, i) {
    for (let k = 0; k < 2; k++) {
      assert.equal(await run(exports, i, 0), 1077);
      await assert.rejects(run(exports, i, 5), refused);
      assert.equal(await run(exports, 0, 5), 1016); // its own functions are left
      assert.equal(await run(exports, 1, 5), 1017);
    }
  }

  test(`${name}: JavaScript puts a plain function into an exported table, which calls back`, async () => {
    const exports = make(exported);
    const { f, other } = between(exports.own);
    exports.table.set(2, f);
    assert.equal(exports.table.grow(1, f), 10);
    if (!growFills) exports.table.set(10, f);
    await guards(exports, 2);
    await guards(exports, 10);
    assert.equal(exports.table.get(2), f); // it is the same function to JavaScript
    exports.table.set(3, exports.table.get(2));
    exports.table.set(4, exports.table.get(1));
    exports.table.set(5, exports.own);
    await guards(exports, 3);
    assert.equal(await run(exports, 4, 5), 1017);
    assert.equal(await run(exports, 5, 5), 1016);
    exports.table.set(6, other); // of a type that nobody calls
    assert.equal(exports.table.get(6), other);
    await assert.rejects(run(exports, 6, 0), (error) => error instanceof plain.RuntimeError);
    exports.table.set(2, null);
    assert.equal(exports.table.get(2), null);
    await assert.rejects(run(exports, 2, 0), (error) => error instanceof plain.RuntimeError);
    assert.throws(() => exports.table.set(2, () => {}), TypeError);
    assert.throws(() => exports.table.set(100, f), RangeError);
    exports.table.set(7);
    assert.equal(exports.table.get(7), null);
  });

  test(`${name}: a function of JavaScript's that calls back, as Emscripten's addFunction makes one`, async () => {
    const exports = make(exported);
    const made = assemble(`(module (import "e" "f" (func $f (param i32) (result i32))) (export "f" (func $f)))`);
    const f = (n) => (n ? exports.own(n) : 77);
    exports.table.set(2, new plain.Instance(new plain.Module(made), { e: { f } }).exports.f);
    await guards(exports, 2);
  });

  test(`${name}: an imported table that has plain functions already, and gets more`, async () => {
    const table = new plain.Table({ initial: 10, maximum: 20, element: "anyfunc" });
    let exports;
    const { f } = between((n) => exports.own(n));
    table.set(2, f);
    exports = make(imported, { table });
    table.set(3, f);
    await guards(exports, 2);
    await guards(exports, 3);
  });

  test(`${name}: a plain module that is instantiated here fills the table`, async () => {
    const exports = make(exported);
    const filler = assemble(`(module (import "env" "table" (table $t 10 20 funcref))
      (import "env" "back" (func $back (param i32) (result i32)))
      (func $f (param i32) (result i32)
        (if (result i32) (local.get 0) (then (call $back (local.get 0))) (else (i32.const 77))))
      (elem (table $t) (i32.const 2) func $f))`);
    const { table, own } = exports;
    const made = new ours.Instance(new ours.Module(filler), { env: { table, back: own } });
    assert.ok(made);
    if (unwinds) return assert.equal(await run(exports, 2, 5), 1016); // it has been rewritten itself
    await guards(exports, 2);
  });

  test(`${name}: a table between two rewritten instances, with functions of both and of neither`, async () => {
    const first = make(exported);
    const second = make(imported, first); // its functions take the places 0 and 1
    const { f } = between((n) => first.own(n));
    first.table.set(2, f);
    first.table.set(3, first.own);
    for (const exports of [first, second]) {
      await guards(exports, 2);
      assert.equal(await run(exports, 3, 5), 1016);
    }
  });
}

test("a function that waits comes in by a global", async () => {
  const env = { ask: new ours.Suspending(async (n) => n * 3) };
  const { own, ref } = new ours.Instance(
    new ours.Module(
      assemble(`(module ${UNARY}
        (import "env" "ask" (func $ask (param i32) (result i32)))
        (func $own (export "own") (type $unary) (i32.add (call $ask (local.get 0)) (i32.const 1)))
        (global (export "ref") funcref (ref.func $own)))`),
    ),
    { env },
  ).exports;
  assert.equal(await ours.promising(own)(5), 16);
  const { caller } = new ours.Instance(
    new ours.Module(
      assemble(`(module ${UNARY}
        (import "env" "ref" (global $ref funcref))
        (func (export "caller") (type $unary)
          (i32.add (i32.const 1000) (call_ref $unary (local.get 0) (ref.cast (ref $unary) (global.get $ref))))))`),
    ),
    { env: { ref } },
  ).exports;
  assert.equal(await ours.promising(caller)(5), 1016);
});
