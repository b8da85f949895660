// How many continuations, how deep, and what becomes of those that nobody holds. Run over web/dist/npm.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { WebAssembly as lowering } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";
import { gc } from "./gc.mjs";
import { cont, func, module } from "./instructions.mjs";

const { nest, fill, round, drop } = new lowering.Instance(
  new lowering.Module(
    assemble(`(module
      (type $f (func (param i32) (result i32))) (type $k (cont $f))
      (tag $yield (param i32) (result i32))
      (elem declare func $deeper $worker $deep)
      ;; resumes itself in a continuation of its own, so many times; the innermost suspends to the outermost
      (func $deeper (type $f)
        (if (i32.eqz (local.get 0)) (then (return (suspend $yield (i32.const 5)))))
        (i32.add (i32.const 1)
          (resume $k (i32.sub (local.get 0) (i32.const 1)) (cont.new $k (ref.func $deeper)))))
      (func (export "nest") (param i32) (result i32) (local $c (ref null $k)) (local $v i32)
        (block $h (result i32 (ref $k))
          (resume $k (on $yield $h) (local.get 0) (cont.new $k (ref.func $deeper))) (return (i32.const -1)))
        (local.set $c) (local.set $v)
        (resume $k (local.get $v) (local.get $c)))
      (func $worker (type $f) (local $i i32)
        (loop $l
          (local.set 0 (i32.add (local.get 0) (suspend $yield (local.get 0))))
          (br $l))
        (unreachable))
      (table $t 1000000 (ref null $k))
      (func $step (param $k (ref null $k)) (param $v i32) (result i32 (ref $k))
        (resume $k (on $yield 0) (local.get $v) (local.get $k)) (unreachable))
      (func (export "fill") (param $n i32) (local $c (ref null $k))
        (loop $l
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (call $step (cont.new $k (ref.func $worker)) (local.get $n)) (local.set $c) (drop)
          (table.set $t (local.get $n) (local.get $c))
          (br_if $l (local.get $n))))
      (func (export "round") (param $n i32) (result i64) (local $c (ref null $k)) (local $sum i64)
        (loop $l
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (call $step (table.get $t (local.get $n)) (i32.const 1)) (local.set $c)
          (i64.extend_i32_u) (local.set $sum (i64.add (local.get $sum)))
          (table.set $t (local.get $n) (local.get $c))
          (br_if $l (local.get $n)))
        (local.get $sum))
      (func $deep (type $f)
        (if (i32.eqz (local.get 0)) (then (return (suspend $yield (i32.const 1)))))
        (i32.add (call $deep (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
      (func (export "drop") (param $n i32) (param $depth i32)
        (loop $l
          (call $step (cont.new $k (ref.func $deep)) (local.get $depth)) (drop) (drop)
          (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))`),
  ),
).exports;

test("20,000 resumes inside of each other, suspended and resumed as one", () => {
  for (const n of [0, 1, 499, 500, 501, 1000, 20_000]) assert.equal(nest(n), n + 5);
});

test("1,000,000 resumes inside of each other end in an error, and nothing is left behind", () => {
  assert.throws(
    () => nest(1_000_000),
    (e) => e instanceof WebAssembly.RuntimeError && /inside of each other/.test(e.message),
  );
  assert.equal(nest(3), 8);
});

test("S-LIFE-4: a continuation that nobody holds is garbage, half-way through ten functions, too", () => {
  drop(1_000_000, 10); // Bun's heap grows once, by what the tests before have left
  gc();
  const before = process.memoryUsage().heapUsed;
  drop(1_000_000, 10);
  gc();
  assert.ok(process.memoryUsage().heapUsed - before < 5e6);
});

test("1,000,000 continuations are suspended at once", () => {
  fill(1_000_000);
  assert.equal(round(1_000_000), 499_999_500_000n + 1_000_000n);
  assert.equal(round(1_000_000), 499_999_500_000n + 2_000_000n);
  assert.ok(process.memoryUsage().rss < 0.8e9);
});

test("a stack overflow in a continuation, as it is left, as it goes on: nothing is left behind", () => {
  const { go, sound } = new lowering.Instance(
    new lowering.Module(
      assemble(`(module
        (type $f (func (param i32) (result i32))) (type $k (cont $f))
        (tag $yield (param i32) (result i32)) (elem declare func $deep)
        (func $deep (param i32) (result i32)
          (if (i32.eqz (local.get 0)) (then (return (suspend $yield (i32.const 1)))))
          (block $all (try_table (catch_all $all)
            (return (i32.add (call $deep (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))))
          (i32.const -1))
        (func $go (export "go") (param $depth i32) (param $again i32) (result i32) (local $c (ref null $k))
          (block $h (result i32 (ref $k))
            (return (resume $k (on $yield $h) (local.get $depth) (cont.new $k (ref.func $deep)))))
          (local.set $c) (drop)
          (call $resume (local.get $again) (local.get $c)))
        (func $resume (param $n i32) (param $c (ref null $k)) (result i32) ;; so many frames further down
          (if (local.get $n) (then
            (return (i32.add (i32.const 0) (call $resume (i32.sub (local.get $n) (i32.const 1)) (local.get $c))))))
          (resume $k (i32.const 7) (local.get $c)))
        (func (export "sound") (result i32) (call $go (i32.const 20) (i32.const 0))))`),
    ),
  ).exports;
  let most = 1000;
  const works = (depth, again) => {
    try {
      assert.equal(go(depth, again), depth + 7);
      return true;
    } catch (error) {
      assert.ok(error instanceof RangeError, error);
      return false;
    } finally {
      assert.equal(sound(), 27);
    }
  };
  while (works(most, 0)) most *= 2;
  // Between what just works and what does not, the overflow may happen anywhere.
  let least = most / 2;
  while (most - least > 40) {
    const middle = (most + least) >> 1;
    if (works(middle, 0)) least = middle;
    else most = middle;
  }
  for (let depth = least - 20; depth < most + 20; depth++) works(depth, 0);
  let deepest = 1000;
  while (works(10, deepest)) deepest *= 2;
  for (let low = deepest / 2; deepest - low > 1;) {
    const middle = (deepest + low) >> 1;
    if (works(10, middle)) low = middle;
    else deepest = middle;
  }
  for (let again = deepest - 40; again < deepest + 10; again++) works(10, again);
});

test("more frames than the heap has room for end in an error, not with the process", () => {
  const program = `
    import { WebAssembly }
      from ${JSON.stringify(new URL("../../web/dist/npm/esm/webassembly.js", import.meta.url).href)};
    import { assemble } from ${JSON.stringify(new URL("assemble.mjs", import.meta.url).href)};
    const { endless } = new WebAssembly.Instance(new WebAssembly.Module(assemble(\`(module
      (type $f (func (param i32))) (type $k (cont $f)) (type $node (struct (field (ref $k)) (field (ref null $node))))
      (tag $yield (result i32)) (elem declare func $deep)
      (func $deep (param i32)
        (if (local.get 0) (then (call $deep (i32.sub (local.get 0) (i32.const 1)))) (else (drop (suspend $yield))))
        (drop (local.get 0)))
      (func (export "endless") (param i32) (local $list (ref null $node)) (local $c (ref null $k))
        (loop $l
          (block $h (result (ref $k)) (resume $k (on $yield $h) (local.get 0) (cont.new $k (ref.func $deep)))
            (unreachable))
          (local.set $c)
          (local.set $list (struct.new $node (ref.as_non_null (local.get $c)) (local.get $list)))
          (br $l))))\`))).exports;
    for (const depth of [0, 1000]) {
      try { endless(depth); }
        catch (error) { console.log(error instanceof globalThis.WebAssembly.RuntimeError, error.message); }
    }`;
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--max-old-space-size=200", "--input-type=module", "--eval", program],
    { encoding: "utf8" },
  );
  assert.equal(status, 0);
  assert.match(stdout, /^(true too many frames are saved.*\n){2}$/);
});

function nested(depth) {
  const inside = [0xd2, 0, 0xe0, 1, 0xe3, 1, 0]; // (ref.func 0) (cont.new 1) (resume 1)
  const body = [...Array(depth).fill([0x02, 0x40]).flat(), ...inside, ...Array(depth).fill(0x0b)];
  return module({ types: [func(), cont(0)], functions: [[0], [0, ...body]], start: 1, exports: [["f", 0]] });
}

test("functions with 3,000 blocks in each other are rewritten", () => {
  new lowering.Instance(new lowering.Module(nested(3_000)));
});

test("functions with more blocks in each other than the stack has room for are refused", () => {
  assert.throws(
    () => new lowering.Module(nested(200_000)),
    (error) => {
      assert.ok(error instanceof globalThis.WebAssembly.CompileError);
      assert.match(error.message, /^fiberfill: cannot lower this module, blocks .* nest deeper .*--stack-size/);
      assert.ok(error.cause);
      return true;
    },
  );
  new lowering.Instance(new lowering.Module(nested(10)));
});
