// A recursion that ends in a wait, at each depth around the end of the engine's stack: where there is no room, this
// fiber fails, and nothing else does. A wait is also what it was after an import that has failed before it began. Run
// over web/dist/npm.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";

const down = (name, wait) => `
  (func $${name} (export "${name}") (param $n i32) (result i32)
    (if (i32.eqz (local.get $n)) (then (call ${wait}) (return (i32.const 0))))
    (i32.add (i32.const 1) (call $${name} (i32.sub (local.get $n) (i32.const 1)))))`;
const bytes = assemble(`(module
  (import "env" "wait" (func $wait))
  (import "fiberfill" "yield" (func $yield))
  (import "fiberfill" "sleep_ms" (func $sleep_ms (param i32)))
  (func $sleep (call $sleep_ms (i32.const 0)))
  (func $twice (call $yield) (call $yield))
  ${down("waits", "$wait")} ${down("yields", "$twice")} ${down("sleeps", "$sleep")})`);

const kinds = hasJSPI ? ["jspi", "unwind"] : ["unwind"];

for (const stacks of kinds)
  for (const name of ["waits", "yields", "sleeps"])
    test(`${stacks}: a recursion that ${name} near the end of the stack`, async () => {
      const { exports } = await fiberfill.instantiate(
        bytes,
        { env: { wait: fiberfill.suspending(async () => {}) } },
        { stacks },
      );
      const others = Array.from({ length: 3 }, () => exports.yields(5));
      const outcome = (n) => exports[name](n).catch((error) => error.code);
      // The deepest that goes well is between low and high.
      let [low, high] = [1000, 1 << 20];
      while (high - low > 50) {
        const n = (low + high) >> 1;
        const got = await outcome(n);
        if (got === n) low = n;
        else high = (assert.equal(got, "stack-overflow"), n);
      }
      for (let n = low - 400; n < low + 400; n += 3) {
        const got = await outcome(n);
        assert.ok(got === n || got === "stack-overflow", `${n}: ${got}`);
      }
      assert.deepEqual(await Promise.all(others), [5, 5, 5]);
      assert.equal(await outcome(10), 10);
    });

for (const stacks of kinds)
  test(`${stacks}: a wait after a plain call of an import that the engine could not call`, async () => {
    const guest = assemble(`(module
      (import "env" "vector" (func $vector (param v128)))
      (import "env" "wait" (func $wait (result i32)))
      (func (export "vector") (call $vector (v128.const i32x4 1 2 3 4)))
      (func (export "wait") (result i32) (call $wait)))`);
    const { suspending } = fiberfill;
    const env = { vector: suspending(async () => {}), wait: suspending(async () => 7) };
    const { instance, exports } = await fiberfill.instantiate(guest, { env }, { stacks });
    assert.throws(() => instance.exports.vector()); // JavaScript has no v128
    assert.equal(await exports.wait(), 7);
  });

test("unwind: a recursion that ends in fibers of a guest's own, in a plain call", async () => {
  const given = { fails: () => {}, note: () => {}, wait: fiberfill.suspending(async () => {}) };
  const make = async () => {
    const source = readFileSync(new URL("testdata/fibers1.wasm", import.meta.url));
    const needed = WebAssembly.Module.imports(new WebAssembly.Module(source));
    const env = {};
    for (const { module, name } of needed) if (module === "env") env[name] = given[name] ?? (() => 0);
    const guest = await fiberfill.instantiate(source, { env }, { stacks: "unwind" });
    guest.instance.exports.init();
    return guest;
  };
  const [a, b] = [await make(), await make()];
  const { instance } = await WebAssembly.instantiate(
    assemble(`(module
      (import "guest" "sum" (func $sum (param i32) (result i32)))
      (func $down (export "down") (param $n i32) (result i32)
        (if (result i32) (local.get $n)
          (then (i32.add (i32.const 0) (call $down (i32.sub (local.get $n) (i32.const 1)))))
          (else (call $sum (i32.const 3))))))`),
    { guest: { sum: a.instance.exports.sum } },
  );
  const { down } = instance.exports;
  const outcome = (n) => {
    try {
      return down(n);
    } catch (error) {
      return error.constructor;
    }
  };
  assert.equal(outcome(0), 6);
  const overflows = [RangeError, globalThis.InternalError];
  let [low, high] = [1000, 1 << 20];
  while (high - low > 50) {
    const n = (low + high) >> 1;
    const got = outcome(n);
    if (got === 6) low = n;
    else high = (assert.ok(overflows.includes(got), `${n}: ${got}`), n);
  }
  for (let n = low - 1500; n < low + 400; n += 7) {
    const got = outcome(n);
    assert.ok(got === 6 || overflows.includes(got), `${n}: ${got}`);
  }
  assert.equal(outcome(10), 6);
  assert.deepEqual(await Promise.all([a.exports.sum(3), b.exports.sum(3)]), [6, 6]);
  for (const fiber of a.fibers()) fiber.release(); // where there was no room to begin them
  assert.deepEqual(a.fibers(), []);
});

for (const stacks of kinds)
  test(`${stacks}: JavaScript that makes and cancels calls near the end of the stack`, async () => {
    const wait = fiberfill.suspending(async () => {});
    const { exports } = await fiberfill.instantiate(bytes, { env: { wait } }, { stacks });
    const other = exports.waits(5);
    const outcome = (fiber) => fiber.catch((error) => error.code);
    for (let round = 0; round < 200; round++) {
      const made = [];
      const attempt = (make) => {
        try {
          made.push(make());
        } catch (error) {
          assert.ok(error instanceof RangeError || error instanceof globalThis.InternalError, String(error));
        }
      };
      const waiting = exports.waits(1);
      // Each level of the recursion tries, from the deepest on, until some calls have been made.
      const down = () => {
        try {
          down();
        } catch {
          if (made.length > 2) return;
          attempt(() => exports.waits(3));
          attempt(() => (waiting.cancel(), waiting));
          if (made.length < 3) throw new RangeError();
        }
      };
      const deeper = (n) => (n === 0 ? down() : deeper(n - 1));
      deeper(round % 61);
      for (const fiber of made) assert.ok([3, "cancelled"].includes(await outcome(fiber)));
    }
    assert.equal(await other, 5);
    assert.equal(await exports.waits(7), 7);
  });

// JavaScriptCore does not list the imports of a module if one has an exnref.
const oddTypes = ["v128", "exnref"].filter((type) => {
  try {
    const imports = `(module (import "env" "odd" (func (result ${type}))))`;
    return WebAssembly.Module.imports(new WebAssembly.Module(assemble(imports)));
  } catch {
    return false;
  }
});

for (const stacks of kinds)
  for (const type of oddTypes)
    test(`${stacks}: a wait that ends with a ${type}, which JavaScript has none of, ends its fiber`, async () => {
      const guest = assemble(`(module
        (import "env" "odd" (func $odd (result ${type})))
        (import "env" "wait" (func $wait (param i32) (result i32)))
        (func (export "odd") (drop (call $odd)))
        (func (export "caught") (result i32)
          (block $caught (try_table (catch_all $caught) (drop (call $odd))) (return (i32.const 0)))
          (i32.add (call $wait (i32.const 7)) (call $wait (i32.const 8))))
        (func (export "wait") (param i32) (result i32) (call $wait (local.get 0))))`);
      const env = { odd: fiberfill.suspending(async () => 0), wait: fiberfill.suspending(async (n) => n) };
      const { exports } = await fiberfill.instantiate(guest, { env }, { stacks });
      for (let i = 0; i < 3; i++) {
        const other = exports.wait(5);
        await assert.rejects(exports.odd(), TypeError);
        assert.equal(await exports.caught(), 15);
        assert.equal(await other, 5);
      }
    });
