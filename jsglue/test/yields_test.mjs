// Imports that only yield. On stacks of fiberfill's own the way from one fiber to the next stays in wasm until code of
// JavaScript's runs, which then finds everything as on the engine's stacks: each test runs on both.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";
import { gc } from "./gc.mjs";

const bytes = assemble(`(module
  (import "fiberfill" "yield" (func $yield))
  (import "env" "look" (func $look (param i32 i32)))
  (import "env" "wait" (func $wait (param i32) (result i32)))
  (import "env" "nothing" (func $nothing))
  (memory (export "memory") 1)

  ;; Yields so often, and looks after each "every" yields.
  (func $turns (export "turns") (param $id i32) (param $n i32) (param $every i32) (result i32)
    (local $i i32)
    (loop $again
      (call $yield)
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (if (i32.eqz (i32.rem_u (local.get $i) (local.get $every))) (then (call $look (local.get $id) (local.get $i))))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $i))

  ;; The same with waits of other kinds in between.
  (func (export "both") (param $id i32) (param $n i32) (result i32)
    (local $sum i32)
    (loop $again
      (drop (call $turns (local.get $id) (i32.const 3) (i32.const 100)))
      (local.set $sum (i32.add (local.get $sum) (call $wait (local.get $n))))
      (call $nothing)
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum))

  (func (export "trap") (param $n i32)
    (drop (call $turns (i32.const 0) (local.get $n) (i32.const 100)))
    (unreachable)))`);

// An import may have a type of its own: JavaScript makes what it takes of what it gets.
const odd = assemble(`(module
  (import "fiberfill" "yield" (func $yield (param f64) (result i32)))
  (func (export "f") (param $n i32) (result i32)
    (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum) (call $yield (f64.const 7))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))`);

// A guest with a shadow stack.
const deep = assemble(`(module
  (import "fiberfill" "yield" (func $yield))
  (import "env" "look" (func $look))
  (memory (export "memory") 2)
  (global $__stack_pointer (export "__stack_pointer") (mut i32) (i32.const 65536))

  ;; Yields n times, and returns how often the stack was not as it had been.
  (func $keeps (export "keeps") (param $id i32) (param $n i32) (result i32)
    (local $at i32) (local $wrong i32)
    (global.set $__stack_pointer (local.tee $at (i32.sub (global.get $__stack_pointer) (i32.const 16))))
    (i32.store (local.get $at) (local.get $id))
    (loop $again
      (call $yield)
      (if (i32.or (i32.ne (i32.load (local.get $at)) (local.get $id))
        (i32.ne (global.get $__stack_pointer) (local.get $at)))
        (then (local.set $wrong (i32.add (local.get $wrong) (i32.const 1)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (global.set $__stack_pointer (i32.add (local.get $at) (i32.const 16)))
    (local.get $wrong))

  ;; The same, and in between calls look.
  (func (export "looks") (param $id i32) (param $n i32) (result i32)
    (local $wrong i32)
    (local.set $wrong (call $keeps (local.get $id) (local.get $n)))
    (call $look)
    (i32.add (local.get $wrong) (call $keeps (local.get $id) (local.get $n))))

  ;; Yields, writes so far below its frame, and yields again.
  (func (export "spills") (param $below i32) (result i32)
    (drop (call $keeps (i32.const 99) (i32.const 5)))
    (i32.store (i32.sub (global.get $__stack_pointer) (local.get $below)) (i32.const 7))
    (call $keeps (i32.const 99) (i32.const 5))))`);

// Goes up and down its shadow stack at random, and yields by either of two imports, or below an exception that a caller
// catches. Returns how often the stack was not as it had been.
const wandering = assemble(`(module
  (import "fiberfill" "yield" (func $one))
  (import "fiberfill" "yield" (func $other))
  (memory (export "memory") 2)
  (global $__stack_pointer (export "__stack_pointer") (mut i32) (i32.const 65536))
  (tag $up)

  (func $wander (export "wander") (param $seed i32) (param $depth i32) (result i32)
    (local $at i32) (local $wrong i32) (local $i i32)
    (global.set $__stack_pointer (local.tee $at (i32.sub (global.get $__stack_pointer) (i32.const 16))))
    (i32.store (local.get $at) (local.get $seed))
    (local.set $i (i32.const 6))
    (loop $again
      (i32.store offset=4 (local.get $at) (i32.mul (local.get $seed) (local.get $i)))
      (if (i32.and (local.get $depth)
          (i32.shr_u (i32.mul (i32.add (local.get $seed) (local.get $i)) (i32.const 0x9e3779b1)) (i32.const 31)))
        (then
          (block $caught
            (try_table (catch $up $caught)
              (local.set $wrong (i32.add (local.get $wrong)
                (call $wander (i32.add (i32.mul (local.get $seed) (i32.const 1664525)) (local.get $i))
                  (i32.sub (local.get $depth) (i32.const 1)))))))
          (global.set $__stack_pointer (local.get $at)))
        (else (if (i32.and (i32.shr_u (local.get $seed) (local.get $i)) (i32.const 1))
          (then (call $one))
          (else (call $other)))))
      (if (i32.or (i32.ne (global.get $__stack_pointer) (local.get $at))
        (i32.or (i32.ne (i32.load (local.get $at)) (local.get $seed))
          (i32.ne (i32.load offset=4 (local.get $at)) (i32.mul (local.get $seed) (local.get $i)))))
        (then (local.set $wrong (i32.add (local.get $wrong) (i32.const 1)))))
      (br_if $again (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
    (if (i32.eqz (i32.or (i32.rem_u (local.get $seed) (i32.const 3)) (local.get $wrong))) (then (throw $up)))
    (global.set $__stack_pointer (i32.add (local.get $at) (i32.const 16)))
    (local.get $wrong)))`);

const kinds = hasJSPI ? ["jspi", "unwind"] : ["unwind"];

async function guest(stacks, look) {
  return (await instantiated(stacks, look)).exports;
}

function instantiated(stacks, look = () => {}) {
  const { suspending } = fiberfill;
  const env = { look, wait: suspending(async (n) => n), nothing: suspending(async () => {}) };
  return fiberfill.instantiate(bytes, { env }, { stacks });
}

for (const stacks of kinds) {
  test(`${stacks}: fibers that yield go on in the order of the scheduler's queue`, async () => {
    const { turns } = await guest(stacks);
    fiberfill.startLog();
    const done = Promise.all([5, 5, 5].map((n, id) => turns(id, n, 100)));
    assert.deepEqual(await done, [5, 5, 5]);
    const named = fiberfill
      .log()
      .filter(([event]) => event === "resumed" || event === "yielded" || event === "finished");
    const places = [...new Set(named.map(([, place]) => place))];
    assert.equal(places.length, 3);
    const round = (event) =>
      places.flatMap((place) => [
        ["resumed", place],
        [event, place],
      ]);
    assert.deepEqual(named, [...Array(5).fill(round("yielded")).flat(), ...round("finished")]);
  });

  test(`${stacks}: an import finds each fiber's state as it is, however often they have yielded`, async () => {
    const seen = [];
    const { turns } = await guest(stacks, (id, i) => {
      const fibers = all.map(({ state, waitsFor }) => `${state} ${waitsFor ?? ""}`.trim());
      seen.push([id, i, all.indexOf(fiberfill.current()), fibers]);
      assert.ok(all.every(({ since }) => since > 0 && since <= performance.now()));
    });
    const all = [0, 1, 2].map((id) => turns(id, 40, 20));
    await Promise.all(all);
    const states = (id) => [0, 1, 2].map((k) => (k === id ? "running" : "waiting fiberfill.yield"));
    const last = [
      ["running", ...states(0).slice(1)],
      ["done", "running", states(0)[2]],
      ["done", "done", "running"],
    ];
    assert.deepEqual(seen, [
      ...[0, 1, 2].map((id) => [id, 20, id, states(id)]),
      ...[0, 1, 2].map((id) => [id, 40, id, last[id]]),
    ]);
  });

  test(`${stacks}: a fiber that yields is cancelled by another, at its yield`, async () => {
    let [cancelled, later] = [false, 0];
    const { turns } = await guest(stacks, (id) => {
      if (id === 0) cancelled = (all[1].cancel("enough"), true);
      if (id === 1 && cancelled) later++;
    });
    const all = [turns(0, 30, 10), turns(1, 1e9, 1), turns(2, 50, 50)];
    assert.deepEqual(await Promise.allSettled(all), [
      { status: "fulfilled", value: 30 },
      { status: "rejected", reason: "enough" },
      { status: "fulfilled", value: 50 },
    ]);
    assert.equal(later, 0);
  });

  test(`${stacks}: fibers that yield for ever let the page live, and are released`, async () => {
    const { turns } = await guest(stacks);
    const all = [turns(0, 2 ** 31, 2 ** 30), turns(1, 2 ** 31, 2 ** 30)];
    const released = all.map((fiber) => assert.rejects(fiber, { code: "released" }));
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 1));
    for (const fiber of all) fiber.release();
    await Promise.all(released);
  });

  test(`${stacks}: an observer that comes while fibers yield is told of every state from then on`, async () => {
    const states = [];
    let stop;
    const { turns } = await guest(stacks, () => {
      stop ??= fiberfill.observe((fiber) => fiber.name === "other" && states.push(fiber.state));
    });
    await Promise.all([turns(0, 10, 10), turns.with({ name: "other" })(1, 15, 100)]);
    stop();
    assert.deepEqual(states, [...Array(5).fill(["running", "waiting"]).flat(), "running", "done"]);
  });

  test(`${stacks}: waits of other kinds between yields bring each fiber its own`, async () => {
    const { both } = await guest(stacks);
    const ns = Array.from({ length: 50 }, (_, i) => 1 + (i % 7));
    assert.deepEqual(
      await Promise.all(ns.map((n, id) => both(id, n))),
      ns.map((n) => (n * (n + 1)) / 2),
    );
  });

  test(`${stacks}: a fiber that traps between yields harms no other`, async () => {
    const { turns, trap } = await guest(stacks);
    const [first, second, third] = await Promise.allSettled([turns(0, 20, 100), trap(9), turns(1, 20, 100)]);
    assert.equal(second.reason.code, "trap");
    assert.deepEqual([first.value, third.value], [20, 20]);
  });

  test(`${stacks}: a yield that has another type yields as well`, async () => {
    const { exports } = await fiberfill.instantiate(odd, {}, { stacks });
    assert.deepEqual(await Promise.all([exports.f(5), exports.f(5)]), [0, 0]);
  });

  test(`${stacks}: a fiber's shadow stack is its own while it yields`, async () => {
    const { exports } = await fiberfill.instantiate(deep, { env: { look() {} } }, { stacks });
    assert.deepEqual(await Promise.all([1, 2, 3].map((id) => exports.keeps(id, 50))), [0, 0, 0]);
    assert.deepEqual(await Promise.all([1, 2, 3].map((id) => exports.looks(id, 20))), [0, 0, 0]);
  });

  test(`${stacks}: so it is at any depth, whichever imports the fibers of two guests yield by`, async () => {
    const [a, b] = [0, 1].map(() => fiberfill.instantiate(wandering, {}, { stacks }));
    const guests = [(await a).exports, (await b).exports];
    const all = Array.from({ length: 40 }, (_, k) => guests[k & 1].wander(1 + 3 * k, 5)); // no multiple of 3 throws
    assert.deepEqual(new Set(await Promise.all(all)), new Set([0]));
  });

  test(`${stacks}: a fiber that has written to its guard ends at its next yield, and no other`, async () => {
    const options = { stacks, shadowStack: { size: 4096 } };
    const { exports } = await fiberfill.instantiate(deep, { env: { look() {} } }, options);
    const others = [exports.keeps(1, 30), exports.keeps(2, 30)];
    const spills = exports.spills(4090); // its region is the lowest: nobody's is below
    await assert.rejects(spills, { code: "region-overflow" });
    assert.deepEqual(await Promise.all(others), [0, 0]);
  });

  test(`${stacks}: a yield below JavaScript's frames does nothing, and the fibers go on`, async () => {
    const plain = [];
    const look = () => plain.push(instance.exports.keeps(9, 3));
    const { instance, exports } = await fiberfill.instantiate(deep, { env: { look } }, { stacks });
    const all = [exports.looks(1, 10), exports.keeps(2, 40), exports.looks(3, 40)];
    assert.deepEqual(await Promise.all(all), [0, 0, 0]);
    assert.deepEqual(plain, [0, 0]);
  });

  test(`${stacks}: of two guests that yield in turn each goes on`, async () => {
    const [a, b] = [await guest(stacks), await guest(stacks)];
    assert.deepEqual(await Promise.all([a.turns(0, 9, 4), b.turns(1, 12, 5), a.turns(2, 7, 3)]), [9, 12, 7]);
  });

  test(`${stacks}: the memory of a guest that has yielded is collected when nobody uses it any more`, async () => {
    const gone = new Set();
    const registry = new FinalizationRegistry((k) => gone.add(k));
    for (let k = 0; k < 10; k++) {
      const { exports, instance } = await instantiated(stacks);
      await Promise.all([exports.turns(0, 3, 100), exports.turns(1, 3, 100)]);
      registry.register(instance.exports.memory, k);
    }
    // The last ones may still be referred to by what has run last.
    for (const end = Date.now() + 60_000; gone.size < 5 && Date.now() < end; await after(10)) gc();
    assert.ok(gone.size >= 5, `${gone.size} of 10`);
  });
}

const SIZE = 4096;
const GUARD = 64;

const guarded = assemble(`(module
  (import "fiberfill" "yield" (func $yield))
  (memory (export "memory") 3)
  (global $__stack_pointer (export "__stack_pointer") (mut i32) (i32.const 65536))
  (global $went (export "went") (mut i32) (i32.const 0))
  (func (export "turns") (param $n i32) (result i32)
    (loop $again
      (call $yield)
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.const 1))
  (func (export "touch") (param $at i32) (result i32)
    (local.set $at (i32.add (local.get $at) (i32.sub (global.get $__stack_pointer) (i32.const ${SIZE}))))
    (call $yield) (call $yield) (call $yield)
    (i32.store8 (local.get $at) (i32.xor (i32.load8_u (local.get $at)) (i32.const 1)))
    (call $yield)
    (global.set $went (i32.const 1))
    (i32.const 2)))`);

test("any byte of the guard that has changed is noticed at the next yield, and none around it", async () => {
  for (let at = -8; at < GUARD + 8; at++) {
    const options = { stacks: "unwind", shadowStack: { size: SIZE, regions: "grow" } };
    const { exports } = await fiberfill.instantiate(guarded, {}, options);
    const other = exports.turns(20);
    const outcome = await exports.touch(at).catch((error) => error.code);
    assert.equal(outcome, at >= 0 && at < GUARD ? "region-overflow" : 2, `byte ${at}`);
    assert.equal(exports.went.value, outcome === 2 ? 1 : 0);
    assert.equal(await other, 1);
  }
});
