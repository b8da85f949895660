// Fibers under a test's fake timers, as in Jest, Vitest and Sinon. Waits end as every await does, sleeps end when the
// test lets time pass, and afterwards everything is as before.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

/** busy yields for as long as the import more says so; sleep calls more before and after. */
const bytes = assemble(`(module
  (import "env" "wait" (func $wait (param i32) (result i32)))
  (import "env" "more" (func $more (result i32)))
  (import "fiberfill" "yield" (func $yield))
  (import "fiberfill" "sleep_ms" (func $sleep (param i32)))
  (func (export "wait") (param i32) (result i32) (call $wait (local.get 0)))
  (func (export "busy") (result i32)
    (loop $again
      (call $yield)
      (br_if $again (call $more)))
    (i32.const 5))
  (func (export "sleep") (param i32) (result i32)
    (drop (call $more))
    (call $sleep (local.get 0))
    (drop (call $more))
    (i32.const 7)))`);

/** The same, as an expression for a program in a process of its own. */
const source = `Buffer.from("${Buffer.from(bytes).toString("base64")}", "base64")`;

const { now } = performance;
const clock = performance;
let until = 0;
let asked = []; // when more was called
const { exports } = await fiberfill.instantiate(bytes, {
  env: {
    wait: fiberfill.suspending(async (n) => n),
    more: () => (asked.push(now.call(clock)), asked.at(-1) < until ? 1 : 0),
  },
});

/** Several turns. */
function busy() {
  until = now.call(clock) + 40;
  return exports.busy();
}

/**
 * Replaces what tells or waits for time by functions that stand still. Returns the timers that have been set, and a
 * function that restores everything.
 */
function fake() {
  const timers = new Map();
  let count = 0;
  const set = (fn, ms = 0) => (timers.set(++count, { fn, ms }), count);
  const fakes = {
    setTimeout: set,
    clearTimeout: (id) => timers.delete(id),
    setImmediate: set,
    queueMicrotask: set,
    performance: { now: () => 0 },
  };
  const real = Object.fromEntries(
    Object.keys(fakes).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
  );
  for (const name in fakes)
    Object.defineProperty(globalThis, name, { value: fakes[name], configurable: true, writable: true });
  return { timers, restore: () => Object.defineProperties(globalThis, real) };
}

test("under fake timers waits and long turns end by themselves, and a sleep when its time has come", async () => {
  const { timers, restore } = fake();
  try {
    assert.equal(await exports.wait(3), 3);
    assert.equal(await busy(), 5);
    const sleeper = exports.sleep(100_000);
    assert.equal(await exports.wait(4), 4); // the sleeper now sleeps
    const [id, { fn, ms }] = [...timers].at(-1);
    assert.ok(ms > 90_000 && ms <= 100_000, `a timer of ${ms} ms for a sleep of 100,000`);
    timers.delete(id);
    fn();
    assert.equal(await sleeper, 7);
  } finally {
    restore();
  }
  assert.deepEqual([await exports.wait(5), await busy(), await exports.sleep(20)], [5, 5, 7]);
  assert.deepEqual(fiberfill.fibers(), []);
});

test("a sleep never ends early, though real timers may", async () => {
  asked = [];
  for (let i = 0; i < 30; i++) await exports.sleep(3);
  for (let i = 0; i < 60; i += 2)
    assert.ok(asked[i + 1] - asked[i] > 2.999, `a sleep of 3 ms took ${asked[i + 1] - asked[i]}`);
});

test("a sleep ends with its timer when the clock stands still", async () => {
  // The module is loaded under the fake timers, so that it has no other clock.
  const program = `
    const set = setTimeout
    const timers = []
    globalThis.setTimeout = (fn) => timers.push(fn)
    globalThis.performance = { now: () => 1 }
    const fiberfill = await import("../../web/dist/npm/esm/index.js")
    const { exports } = await fiberfill.instantiate(${source}, { env: { wait() {}, more() {} } })
    const sleeper = exports.sleep(1000)
    await new Promise(setImmediate)
    timers.shift()()
    globalThis.setTimeout = set
    console.log(await sleeper, await exports.sleep(20))`;
  assert.equal(await printed(program), "7 7\n");
});

test("where there is neither setImmediate nor a MessageChannel, as in jsdom, long turns end", async () => {
  const program = `
    delete globalThis.setImmediate
    delete globalThis.MessageChannel
    const fiberfill = await import("../../web/dist/npm/esm/index.js")
    const until = performance.now() + 40
    const env = { wait() {}, more: () => performance.now() < until ? 1 : 0 }
    const { exports } = await fiberfill.instantiate(${source}, { env })
    console.log(await exports.busy())`;
  assert.equal(await printed(program), "5\n");
});

for (const missing of [["setImmediate"], ["setImmediate", "MessageChannel"]])
  test(`actors have their turns beside fibers that have theirs, without ${missing.join(" and ")}`, async () => {
    const program = `
    for (const name of ${JSON.stringify(missing)}) delete globalThis[name]
    const fiberfill = await import("../../web/dist/npm/esm/index.js")
    const { Runtime } = await import("../../web/dist/npm/esm/actors.js")
    const until = performance.now() + 40
    const more = () => performance.now() < until ? 1 : 0
    const { exports } = await fiberfill.instantiate(${source}, { env: { wait() {}, more } })
    const runtime = new Runtime()
    const actor = runtime.spawnNative((host) => (host.send(host.self, 1), true))
    runtime.send(actor, 0)
    const [busy] = await Promise.all([exports.busy(), runtime.run(() => !more())])
    console.log(busy)
    process.exit() // a MessageChannel keeps Node alive`;
    assert.equal(await printed(program), "5\n");
  });

async function printed(program) {
  const root = new URL(".", import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
  });
  return stdout;
}
