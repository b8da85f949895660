// The rules S of docs/rules.md: types, tags, and what is checked when modules are linked. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "./assemble.mjs";
import { binary, instance, invalid, lowering, traps, UNHANDLED, valid } from "./instructions.mjs";
import { CONT, cont, func, I32, I64, module, NOCONT, ref, refNull } from "./instructions.mjs";

const linked = (text, imports) => new lowering.Instance(new lowering.Module(assemble(text)), imports).exports;
const unlinkable = (text, imports) => assert.throws(() => linked(text, imports), WebAssembly.LinkError, text);

// --- types

test("S-TYPE-1: a continuation type names a function type; nothing else can stand there", () => {
  valid(module({ types: [func(), cont(0), func([refNull(1)])], functions: [[2]] }));
  invalid(module({ types: [[0x5f, 0], cont(0)] }), /type of another form/);
  invalid(module({ types: [func(), cont(0), cont(1)] }), /type of another form/);
  invalid(module({ types: [func(), cont(7)] }), /unknown type/);
});

test("S-TYPE-2: instructions name continuation types: a function type will not do", () => {
  for (const code of [0xe0, 0xe3]) {
    const operands = code === 0xe3 ? [0] : [];
    const types = [func(), cont(0)];
    invalid(module({ types, functions: [[0, 0x00, code, 0, ...operands, 0x00]] }), /type of another form/);
    valid(module({ types, functions: [[0, 0x00, code, 1, ...operands, 0x00]] }));
  }
});

// Whether a value of one type can be returned as one of another.
const matches = (types, from, to) =>
  lowering.validate(module({ types: [...types, func([from], [to])], functions: [[types.length, 0x20, 0]] }));
const types = [func(), cont(0), func([I32]), cont(2)];

test("S-TYPE-3: cont is above all continuation types, nocont below; no other references are related", () => {
  for (const [from, to, expected] of [
    [ref(1), ref(CONT), true],
    [ref(1), refNull(CONT), true],
    [refNull(NOCONT), refNull(1), true],
    [refNull(NOCONT), refNull(CONT), true],
    [ref(CONT), ref(1), false],
    [refNull(1), ref(1), false],
    [ref(1), ref(3), false],
    [ref(1), refNull(NOCONT), false],
    ...[0x6e, 0x6d, 0x70, 0x6f, 0x69].flatMap((other) => [
      [ref(1), refNull(other), false], // any, eq, func, extern, exn
      [refNull(CONT), refNull(other), false],
      [refNull(other), refNull(CONT), false],
    ]),
    [ref(0), ref(1), false], // its function type
  ]) {
    assert.equal(matches(types, from, to), expected, `${from} as ${to}`);
  }
});

test("S-TYPE-4: one continuation type is a subtype of another if it is declared so and their functions are", () => {
  const sub = (supers, type) => [0x50, supers.length, ...supers, ...type];
  const eq = 0x6d;
  const any = 0x6e;
  const wide = [sub([], func([[0x63, eq]], [[0x63, any]])), sub([], cont(0))];
  const narrow = [sub([0], func([[0x63, any]], [[0x63, eq]])), sub([1], cont(2))];
  assert.equal(matches([...wide, ...narrow], ref(3), ref(1)), true);
  assert.equal(matches([...wide, ...narrow], ref(1), ref(3)), false);
  assert.equal(matches([...wide, narrow[0], sub([], cont(2))], ref(3), ref(1)), false); // not declared
  invalid(module({ types: [...wide, sub([], func()), sub([1], cont(2))] }), /at byte/); // no function that is one
});

test("S-TYPE-5: types are equal by structure, also recursive ones, and also in different modules", () => {
  const group = "(rec (type $f (func (param (ref null $k)) (result i32))) (type $k (cont $f)))";
  const maker =
    linked(`(module (type (struct)) ${group} (func $three (type $f) (i32.const 3)) (elem declare func $three)
    (func (export "make") (result (ref $k)) (cont.new $k (ref.func $three))))`);
  const taker = (types) => `(module ${types} (import "m" "make" (func $make (result (ref $k))))
    (func (export "run") (result i32) (resume $k (ref.null $k) (call $make))))`;
  assert.equal(linked(taker(group), { m: maker }).run(), 3);
  unlinkable(taker(group.replace("(type $k (cont $f))", "(type (struct)) $&")), { m: maker }); // another group
});

test("S-TYPE-6: a reference is a value: in variables, tables, fields, parameters, results, payloads", () => {
  const { run } = instance(`
    (type $box (struct (field (mut (ref null $k_i)))))
    (type $list (array (mut (ref null $k_i))))
    (type $take (func (param (ref $k_i)) (result i32))) (type $taker (cont $take))
    (tag $give (result (ref $k_i)))
    (global $g (mut (ref null $k_i)) (ref.null $k_i))
    (table $t 2 (ref null $k_i))
    (func $one (type $f_i) (i32.const 1))
    (func $pass (param (ref null $k_i)) (result (ref null $k_i)) (local.get 0))
    (func $takes (type $f_i) (resume $k_i (suspend $give)))
    (func (export "run") (result i32) (local $box (ref $box)) (local $list (ref $list))
      (local $taker (ref null $taker)) (local $l (ref $k_i))
      (local.set $l (cont.new $k_i (ref.func $one)))
      (local.set $box (struct.new $box (cont.new $k_i (ref.func $one))))
      (local.set $list (array.new $list (cont.new $k_i (ref.func $one)) (i32.const 3)))
      (global.set $g (cont.new $k_i (ref.func $one)))
      (table.set $t (i32.const 1) (cont.new $k_i (ref.func $one)))
      (block $h (result (ref $taker))
        (return (resume $k_i (on $give $h) (cont.new $k_i (ref.func $takes)))))
      (local.set $taker)
      (i32.add (resume $k_i (call $pass (struct.get $box 0 (local.get $box))))
        (i32.add (resume $k_i (array.get $list (local.get $list) (i32.const 2)))
          (i32.add (resume $k_i (global.get $g))
            (i32.add (resume $k_i (table.get $t (i32.const 1)))
              (resume $taker (local.get $l) (local.get $taker)))))))`);
  assert.equal(run(), 5);
});

test("S-TYPE-7: a null reference can be made and tested; a type without null has no default", () => {
  const { run } = instance(`
    (func $one (type $f_i) (i32.const 1))
    (func (export "run") (param i32) (result i32) (local $k (ref null $k_i))
      (if (local.get 0) (then (local.set $k (cont.new $k_i (ref.func $one)))))
      (block $null
        (return (resume $k_i (br_on_null $null (local.get $k)))))
      (ref.is_null (local.get $k)) (i32.add (i32.const 10)))`);
  assert.deepEqual([run(0), run(1)], [11, 1]);
  const local = (type) =>
    new Uint8Array([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 6, 2, 0x60, 0, 0, 0x5d, 0, 3, 2, 1, 0, 10, 10, 1, 8, 1, 1, type, 1],
      ...[0x20, 0, 0x1a, 0x0b],
    ]);
  valid(local(0x63));
  invalid(local(0x64), /at byte/);
});

test("S-TYPE-8: no cast and no test leads to a continuation type, and ref.eq takes none", () => {
  const body = (...code) => module({ types: [...types, func([refNull(CONT)], [])], functions: [[4, ...code]] });
  const get = [0x20, 0];
  for (const heap of [1, CONT, NOCONT]) {
    for (const opcode of [0x14, 0x15, 0x16, 0x17]) invalid(body(...get, 0xfb, opcode, heap, 0x1a), /at byte/);
    for (const opcode of [0x18, 0x19]) invalid(body(...get, 0xfb, opcode, 3, 0, CONT, heap, 0x1a), /at byte/);
  }
  invalid(body(...get, ...get, 0xd3, 0x1a), /at byte/);
  valid(body(...get, 0xd1, 0x1a));
});

test("S-TYPE-9: imports and exports that have continuation types are compared in full when linking", () => {
  const exporter = linked(`(module (type $f (func (result i32))) (type $k (cont $f))
    (func $five (type $f) (i32.const 5)) (elem declare func $five)
    (func (export "func") (result (ref $k)) (cont.new $k (ref.func $five)))
    (global (export "global") (mut (ref null $k)) (ref.null $k))
    (global (export "fixed") (ref null $k) (ref.null $k))
    (table (export "table") 1 (ref null $k)))`);
  const importing = (result, what) =>
    `(module (type $f (func ${result})) (type $k (cont $f)) (import "m" "${what[0]}" (${what[1]})))`;
  for (const what of [
    ["func", "func (result (ref $k))"],
    ["global", "global (mut (ref null $k))"],
    ["table", "table 1 (ref null $k)"],
  ]) {
    linked(importing("(result i32)", what), { m: exporter });
    for (const result of ["", "(result i64)", "(param i32) (result i32)"])
      unlinkable(importing(result, what), { m: exporter });
  }
  // A continuation is no structure, whatever it has become for the engine. JavaScriptCore does not list what a module
  // imports that has types of the collector's, so nobody sees there that a module which is not lowered takes one.
  const lists = (() => {
    const bytes = assemble('(module (import "m" "fixed" (global anyref)))');
    try {
      return WebAssembly.Module.imports(new WebAssembly.Module(bytes))[0].name === "fixed";
    } catch {
      return false;
    }
  })();
  linked(importing("(result i32)", ["fixed", "global contref"]), { m: exporter });
  for (const type of ["anyref", "eqref", "structref"]) {
    const taken = `(import "m" "fixed" (global ${type}))`;
    const uses = "(type $f (func)) (type $k (cont $f)) (func (param (ref null $k)))";
    unlinkable(`(module ${taken} ${uses})`, { m: exporter });
    if (lists) unlinkable(`(module ${taken})`, { m: exporter });
  }
});

test("S-TYPE-10: JavaScript may hold a continuation and pass it on; it sees nothing of it", () => {
  const { make, take } = instance(`
    (func $five (type $f_i) (i32.const 5))
    (func (export "make") (result (ref $k_i)) (cont.new $k_i (ref.func $five)))
    (func (export "take") (param (ref null $k_i)) (result i32) (resume $k_i (local.get 0)))`);
  const k = make();
  assert.deepEqual(Reflect.ownKeys(k), []);
  assert.equal(Object.getPrototypeOf(k), null);
  assert.equal(take(k), 5);
  for (const wrong of [{}, 5, "k", undefined, take]) assert.throws(() => take(wrong), TypeError);
});

// --- tags

test("S-TAG-1: a tag may have results: suspend sends its parameters and gets its results back", () => {
  const { run } = instance(`
    (type $back (func (param i64 f64) (result f64))) (type $kback (cont $back))
    (type $start (func (result f64))) (type $kstart (cont $start))
    (tag $many (param i32 f32) (result i64 f64))
    (func $body (type $start) (local $d f64)
      (suspend $many (i32.const 3) (f32.const 0.5)) (local.set $d)
      (f64.convert_i64_s) (f64.mul (local.get $d)))
    (func (export "run") (result f64) (local $k (ref null $kback)) (local $x f32)
      (block $h (result i32 f32 (ref $kback))
        (return (resume $kstart (on $many $h) (cont.new $kstart (ref.func $body)))))
      (local.set $k) (local.set $x) (i64.extend_i32_u)
      (f64.promote_f32 (local.get $x)) (local.get $k) (resume $kback))`);
  assert.equal(run(), 1.5);
});

const importing = (tag) => binary(`(import "m" "t" (tag $t ${tag}))`, "(tag $other (result i32))");

test("S-TAG-2: an imported tag has the parameters and results that the module says, or linking fails", () => {
  const m = instance(`(tag (export "t") (param i32) (result i64))`);
  const link = (tag) => new lowering.Instance(new lowering.Module(importing(tag)), { m, env: { see() {} } });
  link("(param i32) (result i64)");
  for (const tag of [
    "(param i32)",
    "(param i64) (result i64)",
    "(param i32) (result i32)",
    "(param i32) (result i64 i64)",
    "",
  ]) {
    assert.throws(() => link(tag), WebAssembly.LinkError, tag);
  }
});

test("S-TAG-3: a tag that is imported twice, or goes through a third module, is the same tag", () => {
  const first = instance(`(tag (export "t") (param i32) (result i32))`);
  const second = instance(
    `
    (import "m" "t" (tag $t (param i32) (result i32)))
    (export "again" (tag $t))
    (func (export "asks") (result i32) (suspend $t (i32.const 20)))`,
    { m: first },
  );
  const { run } = instance(
    `
    (import "m" "again" (tag $t (param i32) (result i32)))
    (import "m" "asks" (func $asks (type $f_i)))
    (func (export "run") (result i32)
      (block $h (result i32 (ref $ki_i)) (return (resume $k_i (on $t $h) (cont.new $k_i (ref.func $asks)))))
      (drop) (i32.add (i32.const 1)))`,
    { m: second },
  );
  assert.equal(run(), 21);
});

test("S-TAG-3: a tag that is exported again is the same object", () => {
  const first = instance(`(tag (export "t") (param i32) (result i32))`);
  const text = `(import "m" "t" (tag $t (param i32) (result i32))) (export "again" (tag $t))`;
  assert.equal(instance(text, { m: first }).again, first.t);
});

test("S-TAG-4: two instances of a module have two tags", () => {
  const source = `
    (tag $t (export "t"))
    (func (export "stops") (suspend $t))`;
  const [a, b] = [instance(source), instance(source)];
  const { run } = instance(
    `
    (import "a" "t" (tag $t))
    (import "b" "stops" (func $stops (type $f)))
    (func (export "run")
      (block $h (result (ref $k)) (resume $k (on $t $h) (cont.new $k (ref.func $stops))) (return)) (drop))`,
    { a, b },
  );
  traps(run, UNHANDLED);
});

test("S-TAG-5: one tag serves throw, suspend and switch; a clause or a catch takes its own kind only", () => {
  const { suspends, throws, passes } = instance(`
    (func $suspends (type $f) (suspend $stop))
    (func $throws (type $f) (throw $stop))
    (func $which (param (ref $k)) (result i32)
      (block $caught
        (block $h (result (ref $k))
          (try_table (catch $stop $caught) (resume $k (on $stop $h) (local.get 0)))
          (return (i32.const 0)))
        (drop) (return (i32.const 1)))
      (i32.const 2))
    (func $between (type $f) (resume $k (on $stop switch) (cont.new $k (ref.func $suspends))))
    (func (export "suspends") (result i32) (call $which (cont.new $k (ref.func $suspends))))
    (func (export "throws") (result i32) (call $which (cont.new $k (ref.func $throws))))
    (func (export "passes") (result i32) (call $which (cont.new $k (ref.func $between))))`);
  assert.deepEqual([suspends(), throws(), passes()], [1, 2, 1]);
});

test("S-TAG-6: a tag that is not there is an error of validation", () => {
  const all = [func(), cont(0), func([I32], [I64])];
  const body = (...code) => module({ types: all, tags: [0], functions: [[0, ...code, 0x00]] });
  valid(body(0xe2, 0));
  for (const code of [
    [0xe2, 1],
    [0xd0, 1, 0xe3, 1, 1, 0, 1, 0],
    [0xd0, 1, 0xe3, 1, 1, 1, 1],
    [0xd0, 1, 0xe4, 1, 1, 0],
    [0xd0, 1, 0xe6, 1, 1],
  ]) {
    invalid(body(...code), /unknown tag/);
  }
});
