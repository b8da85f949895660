// Modules with stack-switching instructions among JavaScript, plain modules and each other. Run over web/dist/npm.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { WebAssembly as lowering } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";

const compile = (text) => new lowering.Module(assemble(text));
const instance = (text, imports) => new lowering.Instance(compile(text), imports).exports;

const TYPES = `
  (type $f (func)) (type $k (cont $f))
  (type $f1 (func (param i32))) (type $k1 (cont $f1))`;
const TAG = `(tag $yield (export "yield") (param i32) (result i32))`;
const GENERATOR = TYPES + TAG;

// next resumes the one generator that the module keeps; -1 once it has ended.
const COUNTER = `(module ${TYPES}
  (import "env" "see" (func $see (param i32))) ${TAG}
  (elem declare func $count)
  (global $k (mut (ref null $k1)) (ref.null $k1))
  (func $count (local $i i32)
    (loop $l
      (call $see (local.get $i))
      (local.set $i (i32.add (local.get $i) (suspend $yield (local.get $i))))
      (br_if $l (i32.lt_u (local.get $i) (i32.const 5)))))
  (func (export "start") (result i32)
    (block $h (result i32 (ref $k1))
      (resume $k (on $yield $h) (cont.new $k (ref.func $count))) (return (i32.const -1)))
    (global.set $k))
  (func (export "next") (param i32) (result i32)
    (block $h (result i32 (ref $k1))
      (resume $k1 (on $yield $h) (local.get 0) (global.get $k)) (return (i32.const -1)))
    (global.set $k))
  (func (export "outside") (drop (suspend $yield (i32.const 1))))
  (table (export "table") 1 funcref) (elem (i32.const 0) func $direct)
  (func $direct (export "direct") (drop (suspend $yield (i32.const 2)))))`;

test("an export is called plainly and returns plainly; what it has left goes on with the next call", () => {
  const seen = [];
  const { start, next } = instance(COUNTER, { env: { see: (i) => seen.push(i) } });
  assert.deepEqual([start(), next(2), next(1), next(5)], [0, 2, 3, -1]);
  assert.deepEqual(seen, [0, 2, 3]);
});

test("a reference that has been used traps, with a message", () => {
  const { start, next } = instance(COUNTER, { env: { see() {} } });
  assert.throws(next, (e) => e instanceof WebAssembly.RuntimeError && /null continuation reference/.test(e.message));
  start();
  next(9);
  assert.throws(next, (e) => e instanceof WebAssembly.RuntimeError && /already consumed/.test(e.message));
});

test("a suspension that nobody handles traps where it stands, and names the tag", () => {
  const { outside, table } = instance(COUNTER, { env: { see() {} } });
  for (const call of [outside, table.get(0)]) {
    assert.throws(
      call,
      (e) => e instanceof WebAssembly.RuntimeError && /unhandled tag: suspend with tag yield/.test(e.message),
    );
  }
});

test("exports are the functions themselves: the same that a table has", () => {
  const { table, direct } = instance(COUNTER, { env: { see() {} } });
  assert.equal(direct, table.get(0));
});

test("JavaScript in between is a barrier: nothing suspends across it, and nothing is left behind", () => {
  let exports;
  const errors = [];
  const see = (i) => {
    if (i === 2) {
      for (const call of [exports.outside, exports.table.get(0)]) {
        try {
          call();
        } catch (error) {
          errors.push(error.message);
        }
      }
    }
  };
  exports = instance(COUNTER, { env: { see } });
  assert.deepEqual([exports.start(), exports.next(2), exports.next(1), exports.next(5)], [0, 2, 3, -1]);
  assert.equal(errors.length, 2);
  for (const message of errors) assert.match(message, /unhandled tag.*JavaScript/);
});

test("JavaScript below a continuation may run continuations of its own", () => {
  const inner = instance(COUNTER, { env: { see() {} } });
  const got = [];
  const { start, next } = instance(COUNTER, { env: { see: (i) => got.push(i === 0 ? inner.start() : inner.next(1)) } });
  assert.deepEqual([start(), next(2), next(2), next(9)], [0, 2, 4, -1]);
  assert.deepEqual(got, [0, 1, 2]);
});

test("an import that throws: the exception passes with its identity, and the barrier is gone", () => {
  const mine = new Error("mine");
  let bad = true;
  const see = (i) => {
    if (i === 2 && bad) throw mine;
  };
  const { start, next, outside } = instance(COUNTER, { env: { see } });
  start();
  assert.throws(
    () => next(2),
    (e) => e === mine,
  );
  assert.throws(outside, /unhandled tag/);
  bad = false;
  assert.deepEqual([start(), next(2), next(9)], [0, 2, -1]);
});

test("a trap in a continuation, caught by JavaScript, leaves nothing behind: the next calls are sound", () => {
  const { start, next, trap, table } = instance(
    COUNTER.replace(
      '(func (export "outside")',
      `
      (func $traps (drop (suspend $yield (i32.const 3))) (unreachable))
      (elem declare func $traps)
      (func (export "trap") (param i32) (result i32)
        (if (i32.eqz (local.get 0)) (then
          (block $h (result i32 (ref $k1))
            (resume $k (on $yield $h) (cont.new $k (ref.func $traps))) (return (i32.const -1)))
          (global.set $k) (return)))
        (block $h (result i32 (ref $k1))
          (resume $k1 (on $yield $h) (i32.const 0) (global.get $k)) (return (i32.const -1)))
        (global.set $k))
      (func (export "outside")`,
    ),
    { env: { see() {} } },
  );
  for (let i = 0; i < 3; i++) {
    assert.equal(trap(0), 3);
    assert.throws(() => trap(1), /unreachable/i);
    assert.throws(() => table.get(0)(), /unhandled tag/);
    assert.deepEqual([start(), next(2), next(9)], [0, 2, -1]);
  }
});

test("wasm cannot catch a trap of ours, also below JavaScript that has caught it and throws it on", () => {
  let fail;
  const see = () => {
    try {
      fail();
    } catch (error) {
      throw error;
    }
  };
  const { run, inner } = instance(
    `(module ${TYPES}
    (import "env" "see" (func $see)) ${TAG}
    (func (export "inner") (drop (suspend $yield (i32.const 1))))
    (func (export "run") (result i32)
      (block $caught
        (try_table (catch_all $caught) (call $see))
        (return (i32.const 0)))
      (i32.const 1)))`,
    { env: { see } },
  );
  fail = inner;
  assert.throws(run, (e) => e instanceof WebAssembly.RuntimeError && /unhandled tag/.test(e.message));
});

test("a plain module in between is a barrier; compiled with lower: true it is none", () => {
  const text = `(module (import "a" "ask" (func $ask (param i32) (result i32)))
    (func (export "between") (param i32) (result i32) (i32.add (i32.const 100) (call $ask (local.get 0)))))`;
  const leaf = instance(`(module ${GENERATOR}
    (func (export "ask") (param i32) (result i32) (suspend $yield (local.get 0))))`);
  const outer = (between) =>
    instance(
      `(module ${TYPES} (import "a" "yield" (tag $yield (param i32) (result i32)))
    (import "b" "between" (func $between (param i32) (result i32)))
    (global $r (mut i32) (i32.const 0)) (elem declare func $body)
    (func $body (global.set $r (call $between (i32.const 7))))
    (func (export "run") (result i32) (local $c (ref null $k1)) (local $v i32)
      (block $h (result i32 (ref $k1))
        (resume $k (on $yield $h) (cont.new $k (ref.func $body))) (unreachable))
      (local.set $c) (local.set $v)
      (resume $k1 (i32.mul (i32.const 3) (local.get $v)) (local.get $c))
      (global.get $r)))`,
      { a: leaf, b: { between } },
    );
  const plain = new lowering.Instance(new lowering.Module(assemble(text)), { a: leaf }).exports.between;
  assert.throws(outer(plain).run, /unhandled tag.*not lowered/);
  const lowered = new lowering.Instance(new lowering.Module(assemble(text), { lower: true }), { a: leaf }).exports
    .between;
  assert.equal(outer(lowered).run(), 121);
  assert.equal(lowered.length, 1);
});

test("a tag with results is only that tag elsewhere if the results are the same", () => {
  const tag = (results) => `(tag $t (param i32) ${results})`;
  const exporter = instance(`(module (tag (export "t") (param i32) (result i32)))`);
  const importer = (results) =>
    compile(`(module (type $f (func)) (type $k (cont $f)) (import "m" "t" ${tag(results)}) (export "t" (tag $t)))`);
  new lowering.Instance(importer("(result i32)"), { m: exporter });
  for (const results of ["", "(result i64)", "(result i32 i32)", "(result anyref)"]) {
    assert.throws(() => new lowering.Instance(importer(results), { m: exporter }), WebAssembly.LinkError, results);
  }
  const plain = new WebAssembly.Tag({ parameters: ["i32"] });
  new lowering.Instance(importer(""), { m: { t: plain } });
  assert.throws(() => new lowering.Instance(importer("(result i32)"), { m: { t: plain } }), WebAssembly.LinkError);
});

for (const [what, copied] of [
  ["", (module) => module],
  [", nor in a copy by structuredClone", structuredClone],
]) {
  test(`what the rewriter adds is not to be seen in a module${what}`, () => {
    const copy = copied(compile(COUNTER));
    assert.ok(copy instanceof WebAssembly.Module && copy instanceof lowering.Module);
    assert.deepEqual(lowering.Module.imports(copy), [{ module: "env", name: "see", kind: "function" }]);
    assert.deepEqual(
      lowering.Module.exports(copy).map(({ name, kind }) => `${kind} ${name}`),
      ["tag yield", "function start", "function next", "function outside", "table table", "function direct"],
    );
    assert.deepEqual(lowering.Module.customSections(copy, "fiberfill.lower"), []);
    const { exports } = new lowering.Instance(copy, { env: { see() {} } });
    assert.deepEqual(Object.keys(exports), ["yield", "start", "next", "outside", "table", "direct"]);
    assert.deepEqual([exports.start(), exports.next(9)], [0, -1]);
  });
}

test("a module sent to a worker runs there, without the rewriter", async () => {
  const worker = new Worker(
    `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData).then(({ WebAssembly }) => parentPort.once("message", (module) => {
      const { exports } = new WebAssembly.Instance(module, { env: { see() {} } });
      parentPort.postMessage([exports.start(), exports.next(2), exports.next(9)]);
    }).postMessage("ready"));`,
    { eval: true, workerData: new URL("../../web/dist/npm/esm/webassembly.js", import.meta.url).href },
  );
  const message = () => new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  try {
    await message();
    const answer = message();
    worker.postMessage(compile(COUNTER));
    assert.deepEqual(await answer, [0, 2, -1]);
  } finally {
    await worker.terminate();
  }
});

test("all ways of compiling and instantiating", async () => {
  const bytes = assemble(COUNTER);
  const imports = { env: { see() {} } };
  const works = ({ exports }) => assert.deepEqual([exports.start(), exports.next(9)], [0, -1]);
  const response = () => new Response(bytes, { headers: { "content-type": "application/wasm" } });
  assert.equal(lowering.validate(bytes), true);
  works(new lowering.Instance(new lowering.Module(bytes), imports));
  works(new lowering.Instance(await lowering.compile(bytes), imports));
  works(await lowering.instantiate(await lowering.compile(bytes), imports));
  works((await lowering.instantiate(bytes, imports)).instance);
  works((await lowering.instantiate(bytes.buffer, imports)).instance);
  works(new lowering.Instance(await lowering.compileStreaming(response()), imports));
  works((await lowering.instantiateStreaming(Promise.resolve(response()), imports)).instance);
  works(new lowering.Instance(new lowering.Module(bytes, { stacks: "unwind" }), imports));
});

test("an invalid module is refused with the place and the rule; the engine judges all others", async () => {
  const bytes = assemble(COUNTER);
  const bad = bytes.slice();
  bad[bad.lastIndexOf(0xe3)] = 0xe9; // no instruction
  for (const compiling of [
    () => new lowering.Module(bad),
    () => lowering.compile(bad),
    () => lowering.instantiate(bad),
  ]) {
    await assert.rejects(
      async () => compiling(),
      (e) => e instanceof WebAssembly.CompileError && /at byte \d+/.test(e.message),
    );
  }
  assert.equal(lowering.validate(bad), false);
  assert.throws(() => new lowering.Module(new Uint8Array([1, 2, 3])), WebAssembly.CompileError);
  const plain = assemble(`(module (func (export "f") (result i32) (i32.const 0x5d)))`);
  assert.equal(new lowering.Instance(new lowering.Module(plain)).exports.f(), 93);
});

test("a module that has been lowered already is left as it is", () => {
  // A module like it cannot be got back out of the engine, so the custom section stands for it.
  const section = [0, 16, 15, ...new TextEncoder().encode("fiberfill.lower")];
  const bytes = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section]);
  assert.equal(lowering.validate(bytes, { lower: true }), true);
});

test("continuations in tables, globals, fields and parameters, and across instances", () => {
  const a = instance(`(module (type $f (func (result i32))) (type $k (cont $f))
    (elem declare func $seven)
    (func $seven (result i32) (i32.const 7))
    (table (export "table") 2 (ref null $k))
    (global (export "global") (mut (ref null $k)) (ref.null $k))
    (func (export "make") (result (ref $k)) (cont.new $k (ref.func $seven)))
    (func (export "fill") (table.set 0 (i32.const 1) (cont.new $k (ref.func $seven)))))`);
  const b = instance(
    `(module (type $f (func (result i32))) (type $k (cont $f)) (type $box (struct (field (mut (ref null $k)))))
    (import "a" "table" (table 2 (ref null $k)))
    (import "a" "global" (global $g (mut (ref null $k))))
    (import "a" "make" (func $make (result (ref $k))))
    (func (export "run") (result i32) (local $box (ref $box))
      (local.set $box (struct.new $box (call $make)))
      (global.set $g (call $make))
      (i32.add (resume $k (struct.get $box 0 (local.get $box)))
        (i32.add (resume $k (table.get 0 (i32.const 1))) (resume $k (global.get $g)))))
    (func (export "take") (param (ref $k)) (result i32) (resume $k (local.get 0))))`,
    { a },
  );
  a.fill();
  assert.equal(b.run(), 21);
  assert.equal(b.take(a.make()), 7); // through JavaScript, to which it is opaque
  assert.throws(
    () =>
      instance(
        `(module (type $f (func (result i64))) (type $k (cont $f))
    (import "a" "make" (func (result (ref $k)))))`,
        { a },
      ),
    WebAssembly.LinkError,
  );
});

test("a start function may resume, and not suspend", () => {
  const start = (body) => `(module ${GENERATOR} (global (export "g") (mut i32) (i32.const 0)) (elem declare func $b)
    (func $b (global.set 0 (i32.const 4))) (func $s ${body}) (start $s))`;
  assert.equal(instance(start("(resume $k (cont.new $k (ref.func $b)))")).g.value, 4);
  assert.throws(() => instance(start("(drop (suspend $yield (i32.const 1)))")), /unhandled tag/);
});

test('S-HOST-6: an engine that has the instructions runs them itself, unless { stacks: "unwind" } is asked for', () => {
  const program = `
    import { binary, instance, lowering } from ${JSON.stringify(new URL("./instructions.mjs", import.meta.url))};
    const text = '(func $b (type $f_i) (i32.const 5))' +
      '(func (export "run") (result i32) (resume $k_i (cont.new $k_i (ref.func $b))))';
    const lowered = (options) =>
      WebAssembly.Module.customSections(new lowering.Module(binary(text, ""), options), "fiberfill.lower").length;
    console.log(lowered(), lowered({ stacks: "unwind" }), instance(text, {}, { stacks: "unwind" }).run());`;
  const run = (...flags) =>
    execFileSync(process.execPath, [...flags, "--input-type=module", "--eval", program], { encoding: "utf8" }).trim();
  assert.equal(run("--experimental-wasm-wasmfx"), "0 1 5");
  assert.equal(run(), "1 1 5");
});
