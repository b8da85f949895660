// Imports that write to the guest's memory through a pointer to a local of the caller: where every fiber has its own
// stack, and where all share one (jsglue/src/guest/regions.ts).
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

// get(n) has two locals on its stack: n, and an answer for the import to write; it returns their sum. scribble() writes
// all over the unused stack, as any function may.
const wat = (more) => `(module
  (import "env" "answer" (func $answer (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
  (func (export "get") (param $n i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $n))
    (i32.store offset=4 (local.get $frame) (i32.const 1000000))
    (drop (call $answer (local.get $n) (i32.add (local.get $frame) (i32.const 4))))
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (i32.add (i32.load (local.get $frame)) (i32.load offset=4 (local.get $frame))))
  (func (export "scribble")
    (memory.fill (i32.sub (global.get $sp) (i32.const 256)) (i32.const 0xee) (i32.const 256)))
  ${more})`;

const guests = {
  "each fiber with a stack of its own": wat(""),
  "all fibers on one stack": wat(`(func (export "more") (drop (memory.grow (i32.const 1))))`),
};

/** A guest whose import answer is suspending(fn, deliver). */
async function guest(text, fn, deliver) {
  const { instance, exports } = await fiberfill.instantiate(assemble(text), {
    env: { answer: fiberfill.suspending(fn, deliver) },
  });
  return { exports, direct: instance.exports, words: () => new Int32Array(instance.exports.memory.buffer) };
}

/** For each n, a Promise that the test settles. */
function gates() {
  const all = [];
  return { all, at: (n) => (all[n] ??= Promise.withResolvers()) };
}

for (const [how, text] of Object.entries(guests)) {
  test(`${how}: what deliver writes is there when the import returns`, async () => {
    const gate = gates();
    const waiting = Promise.withResolvers();
    let waits = 0;
    const g = await guest(
      text,
      (n) => {
        if (++waits === 3) waiting.resolve();
        return gate.at(n).promise;
      },
      (value, n, at) => {
        assert.equal(g.words()[(at - 4) / 4], n, "the caller's locals are in their place");
        g.words()[at / 4] = value;
        return 0;
      },
    );
    const fibers = [0, 1, 2].map((n) => g.exports.get(n));
    await waiting.promise;
    for (const n of [2, 0, 1]) {
      g.direct.scribble();
      gate.at(n).resolve(n * 100);
      g.direct.scribble();
    }
    assert.deepEqual(await Promise.all(fibers), [0, 101, 202]);
  });

  test(`${how}: what deliver throws reaches the caller unchanged, and only it`, async () => {
    const reason = { any: "thing" };
    const g = await guest(
      text,
      async (n) => n,
      (value, n, at) => {
        if (n === 1) throw reason;
        g.words()[at / 4] = 5;
        return 0;
      },
    );
    const [zero, one, two] = await Promise.allSettled([0, 1, 2].map((n) => g.exports.get(n)));
    assert.deepEqual([zero.value, two.value], [5, 7]);
    assert.equal(one.reason, reason);
    assert.equal(await g.exports.get(9), 14);
  });

  test(`${how}: deliver is called only after a wait, not for an immediate value and not after a cancel`, async () => {
    const delivered = [];
    const gate = gates();
    const waiting = Promise.withResolvers();
    const g = await guest(
      text,
      (n, at) => {
        if (n === 0) {
          g.words()[at / 4] = 70;
          return 0;
        }
        waiting.resolve();
        return gate.at(n).promise;
      },
      (value, n) => delivered.push(n),
    );
    assert.equal(await g.exports.get(0), 70);
    const cancelled = g.exports.get(1);
    await waiting.promise;
    const reason = new Error("no longer wanted");
    cancelled.cancel(reason);
    gate.at(1).resolve(1);
    await assert.rejects(cancelled, (error) => error === reason);
    assert.deepEqual(delivered, []);
  });

  test(`${how}: a deliver that returns a Promise is refused`, async () => {
    const g = await guest(
      text,
      async () => 0,
      async () => {
        throw new Error("seen by nobody");
      },
    );
    await assert.rejects(g.exports.get(1), { code: "bad-argument", message: /env\.answer.*must not wait/ });
  });

  test(`${how}: in deliver nothing can wait below the platform's promising, and no fiber is harmed`, async () => {
    const inside = [];
    const g = await guest(
      text,
      async (n) => n,
      (value, n) => {
        if (n === 1) inside.push(WebAssembly.promising(g.direct.get)(9));
        return value;
      },
    );
    await Promise.all([1, 2, 1, 3].map((n) => g.exports.get(n)));
    assert.equal(inside.length, 2);
    for (const call of inside) await assert.rejects(call, { code: "cannot-suspend" });
  });

  test(`${how}: an import that calls the guest leaves its caller's stack alone`, async () => {
    const g = await guest(
      text,
      (n) => {
        g.direct.scribble();
        return Promise.resolve(n);
      },
      (value, n, at) => {
        g.words()[at / 4] = 30;
        g.direct.scribble();
        return 0;
      },
    );
    assert.deepEqual(await Promise.all([g.exports.get(1), g.exports.get(2)]), [31, 32]);
  });
}

test("all fibers on one stack: what is written without deliver is lost, and harms no other fiber", async () => {
  const g = await guest(guests["all fibers on one stack"], async (n, at) => {
    await null;
    g.words()[at / 4] = n;
    return 0;
  });
  assert.deepEqual(await Promise.all([1, 2, 3].map((n) => g.exports.get(n))), [1000001, 1000002, 1000003]);
});

test("suspending refuses a deliver that is not a function", () => {
  assert.throws(() => fiberfill.suspending(() => 0, 5), { code: "bad-argument" });
});
