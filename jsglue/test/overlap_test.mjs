// Overlapping calls into one instance give the same answers as calls one after another, whatever the order of their
// waits: with regions from the guest's allocator, regions in grown memory, and copied stacks.
//
// FIBERFILL_SEED repeats a run; the tests print their seed.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { until } from "./waiting_guest.mjs";

// $mix(seed, k, out) has a frame of 96 bytes on its shadow stack: 16 words made from its seed, a word that the inner
// $mix writes through a pointer, and one that the import writes through a pointer. It waits once, then checks every
// word, and writes a hash of them all to out. call(seed) nests three of these, so it waits three times, each time with
// fewer frames. It traps if a word has changed.
const bytes = assemble(`(module
  (import "env" "wait" (func $wait (param i32 i32) (result i32)))
  (memory (export "memory") 128)
  (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
  (global $heap (mut i32) (i32.const 65536))

  (func (export "malloc") (param $n i32) (result i32)
    (global.set $heap (i32.add (global.get $heap) (local.get $n)))
    (i32.sub (global.get $heap) (local.get $n)))
  (func (export "free") (param i32))

  (func $hash (param $x i32) (result i32)
    (local.set $x (i32.mul (i32.xor (local.get $x) (i32.shr_u (local.get $x) (i32.const 16))) (i32.const 0x45d9f3b)))
    (i32.xor (local.get $x) (i32.shr_u (local.get $x) (i32.const 13))))

  (func $word (param $seed i32) (param $k i32) (param $i i32) (result i32)
    (call $hash (i32.add
      (i32.mul (local.get $seed) (i32.const 31))
      (i32.add (i32.mul (local.get $k) (i32.const 64)) (local.get $i)))))

  (func $mix (param $seed i32) (param $k i32) (param $out i32)
    (local $frame i32) (local $i i32) (local $h i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 96))))
    (loop $fill
      (i32.store
        (i32.add (local.get $frame) (i32.shl (local.get $i) (i32.const 2)))
        (call $word (local.get $seed) (local.get $k) (local.get $i)))
      (br_if $fill (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 16))))
    (i32.store offset=64 (local.get $frame) (i32.const 0))
    (i32.store offset=68 (local.get $frame) (i32.const 0))
    (if (local.get $k) (then
      (call $mix
        (call $hash (local.get $seed))
        (i32.sub (local.get $k) (i32.const 1))
        (i32.add (local.get $frame) (i32.const 64)))))
    (local.set $h (call $wait (local.get $seed) (i32.add (local.get $frame) (i32.const 68))))
    (local.set $i (i32.const 0))
    (loop $check
      (if
        (i32.ne
          (i32.load (i32.add (local.get $frame) (i32.shl (local.get $i) (i32.const 2))))
          (call $word (local.get $seed) (local.get $k) (local.get $i)))
        (then (unreachable)))
      (br_if $check (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 16))))
    (local.set $h (call $hash (i32.add (local.get $h) (i32.load offset=64 (local.get $frame)))))
    (i32.store (local.get $out) (call $hash (i32.add (local.get $h) (i32.load offset=68 (local.get $frame)))))
    (global.set $sp (i32.add (local.get $frame) (i32.const 96))))

  (func (export "call") (param $seed i32) (result i32)
    (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (call $mix (local.get $seed) (i32.const 2) (local.get $frame))
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (i32.load (local.get $frame)))

  ;; Writes all over the unused stack, as any function may.
  (func (export "scribble")
    (memory.fill (i32.sub (global.get $sp) (i32.const 512)) (i32.const 0xee) (i32.const 512))))`);

const modes = ["allocator", "grow", "copy"];

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

/** The import's answer to a seed: a value for the pointer, and one to return. */
const written = (seed) => Math.imul(seed, 0x9e3779b1) | 0;
const returned = (seed) => (seed ^ 0x5bd1e995) | 0;

const module = await fiberfill.compile(bytes);

/**
 * An instance. Its import is g.onWait(seed, answer): answer() writes through the pointer and returns what the import
 * must return. Where fibers have their own stacks, answer() may be called at any time; where they share one, it is left
 * to deliver.
 */
async function guest(regions) {
  const g = { onWait: undefined };
  const put = (seed, at) => void (new Int32Array(g.direct.memory.buffer)[at >> 2] = written(seed));
  const fn = (late) => (seed, at) => {
    let here = true;
    const result = g.onWait(seed, () => {
      if (here || late) put(seed, at);
      return returned(seed);
    });
    here = false;
    return result;
  };
  const wait =
    regions === "copy"
      ? fiberfill.suspending(fn(false), (value, seed, at) => (put(seed, at), value))
      : fiberfill.suspending(fn(true));
  const { instance, exports } = await fiberfill.instantiate(
    module,
    { env: { wait } },
    { shadowStack: { size: 2048, regions } },
  );
  return Object.assign(g, { exports, direct: instance.exports });
}

/** The numbers below n, in an order that the seed decides (xorshift). */
function random(seed) {
  let x = Math.imul(seed, 0x9e3779b1) | 1;
  return (n) => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) % n;
  };
}

const seed = Number(process.env.FIBERFILL_SEED ?? Date.now() % 1_000_000_000);

/** Pending waits, and the test's means to end them. */
class Pending {
  #ends = [];
  #more = Promise.withResolvers();

  /** Waits, as an import; `answer` is called when the wait is ended. */
  wait(answer) {
    return new Promise((resolve) => {
      this.#ends.push(() => resolve(answer()));
      this.touch();
    });
  }

  get size() {
    return this.#ends.length;
  }

  /** Ends wait number i. */
  end(i) {
    const end = this.#ends[i];
    const last = this.#ends.pop();
    if (last !== end) this.#ends[i] = last;
    end();
  }

  /** Tells that there is a new wait, or that a call has ended. */
  touch() {
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  get more() {
    return this.#more.promise;
  }
}

// --- a thousand at once

const COUNT = 1000;
const seeds = Array.from({ length: COUNT }, (_, i) => 1 + 7919 * i);

// What the import does before it waits: it calls an export of this instance or of the other one, either as a fiber that
// it waits for or plainly. `depth` is how many fibers wait for the one that calls the import.
const kinds = {
  "that wait": () => undefined,
  "nested through an import": (seed, depth) => depth < 2 && seed % 3 === 0 && { other: false, fiber: true },
  "re-entered synchronously from an import": (seed) => seed % 2 === 0 && { other: false, fiber: false },
  "of two instances that call each other": (seed, depth) => depth < 3 && seed % 3 === 0 && { other: true, fiber: true },
  "of all kinds": (seed, depth) =>
    depth < 3 &&
    [false, { other: seed % 2 === 0, fiber: true }, false, { other: seed % 2 === 0, fiber: false }][(seed >>> 4) % 4],
};

const orders = {
  "one at a time": async (pending, next) => {
    pending.end(next(pending.size));
    for (let ticks = next(5); ticks > 0; ticks--) await null;
  },
  "all that wait in one microtask drain": async (pending, next) => {
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.size > 0) pending.end(next(pending.size));
  },
};

/**
 * Makes two instances that call each other. Returns their common pending waits, which end at once if the test asks for
 * that.
 */
async function pair(regions, kind) {
  const [a, b] = [await guest(regions), await guest(regions)];
  const depths = new WeakMap();
  let plain = false;
  const world = { a, pending: new Pending(), atOnce: false };
  const meet = (g, other) => {
    g.onWait = (seed, answer) => {
      if (plain) return answer();
      const depth = depths.get(fiberfill.current()) ?? 0;
      const wait = (more) =>
        world.atOnce
          ? Promise.resolve().then(() => (answer() + more) | 0)
          : world.pending.wait(() => (answer() + more) | 0);
      const more = kind(seed >>> 0, depth);
      if (!more) return wait(0);
      const to = more.other ? other : g;
      const inner = Math.imul(seed, 17) | 1;
      if (more.fiber) {
        const fiber = to.exports.call(inner);
        depths.set(fiber, depth + 1);
        return fiber.then((value) => (answer() + value) | 0);
      }
      plain = true;
      const value = to.direct.call(inner);
      plain = false;
      return wait(value);
    };
  };
  meet(a, b);
  meet(b, a);
  return world;
}

for (const regions of modes) {
  for (const [what, kind] of Object.entries(kinds)) {
    test(`${regions}: a thousand calls ${what} answer as one after another (FIBERFILL_SEED=${seed})`, async () => {
      const world = await pair(regions, kind);
      const { a, pending } = world;
      world.atOnce = true;
      const expected = [];
      for (const seed of seeds) expected.push(await a.exports.call(seed));
      assert.ok(new Set(expected).size > 990, "the answers differ");
      world.atOnce = false;
      for (const [how, step] of Object.entries(orders)) {
        const next = random(seed);
        let over = false;
        const all = Promise.all(seeds.map((seed) => a.exports.call(seed))).finally(() => {
          over = true;
          pending.touch();
        });
        await until(() => fiberfill.fibers().every(({ state }) => state === "waiting"));
        assert.equal(pending.size, COUNT);
        while (!over) {
          if (pending.size === 0) await pending.more;
          else await step(pending, next);
        }
        assert.deepEqual(await all, expected, `ended ${how}`);
      }
    });
  }
}

test("the guest notices when its calls share a stack, as on raw JSPI", async () => {
  const pending = new Pending();
  const wait = new WebAssembly.Suspending((seed) => pending.wait(() => returned(seed)));
  const { exports } = (await WebAssembly.instantiate(bytes, { env: { wait } })).instance;
  let live = 3;
  const call = WebAssembly.promising(exports.call);
  const results = Promise.allSettled([1, 2, 3].map((seed) => call(seed).finally(() => live--)));
  await until(() => pending.size === 3);
  while (live > 0) {
    exports.scribble();
    if (pending.size > 0) pending.end(0);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const traps = (await results).filter(({ reason }) => reason instanceof WebAssembly.RuntimeError);
  assert.ok(traps.length > 0);
});

// --- eight at once, a hundred thousand times

const ROUNDS = Number(process.env.FIBERFILL_ROUNDS ?? 100_000);

for (const [m, regions] of modes.entries()) {
  test(`${regions}: random interleavings of 8 calls with 3 waits each (FIBERFILL_SEED=${seed})`, async (t) => {
    const g = await guest(regions);
    const pending = new Pending();
    const known = [];
    g.onWait = async (_, answer) => answer();
    for (let i = 0; i < 64; i++) known.push(await g.exports.call(i));
    let waits = 0;
    g.onWait = (_, answer) => {
      waits++;
      return pending.wait(answer);
    };
    const rounds = Math.floor(ROUNDS / modes.length) + (m < ROUNDS % modes.length ? 1 : 0);
    for (let round = 0; round < rounds; round++) {
      const next = random(seed + round * modes.length + m);
      const calls = [];
      let over = 0;
      const ended = () => {
        over++;
        pending.touch();
      };
      while (over < 8) {
        const way = next(4);
        if (calls.length < 8 && (way === 0 || pending.size === 0)) {
          const i = next(64);
          const call = g.exports.call(i).then((answer) => assert.equal(answer, known[i], `in round ${round}`));
          call.then(ended, ended);
          calls.push(call);
        } else if (pending.size > 0) {
          for (let n = way === 1 ? 1 + next(pending.size) : 1; n > 0; n--) pending.end(next(pending.size));
          if (way === 2) g.direct.scribble();
        } else {
          await pending.more;
        }
        for (let ticks = next(4); ticks > 0; ticks--) await null;
      }
      await Promise.all(calls);
    }
    assert.equal(waits, rounds * 8 * 3);
    t.diagnostic(`${rounds} interleavings`);
  });
}
