// Entries: calls of exports of guests that have fibers of their own. Each entry is one fiber of the scheduler,
// whichever of the guest's fibers runs, and entries run one after another.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { guest, none } from "./proposals_guest.mjs";
import { rejection, until, waitingGuest } from "./waiting_guest.mjs";

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

test("an import waits inside of a fiber: the whole entry waits, and exactly that fiber goes on", async () => {
  const g = await guest("fibers1");
  const fiber = g.exports.end(3);
  await until(() => g.gates.length === 1);
  assert.equal(fiber.state, "waiting");
  assert.equal(fiber.waitsFor, "env.wait");
  assert.deepEqual(
    g.fibers().map(({ state }) => state),
    ["busy", "active"],
  );
  g.gates[0].resolve(41);
  assert.equal(await fiber, 41);
  assert.deepEqual(g.trail, [98]);
  none(g);
});

test("entries run one after another, even while one waits; one cancelled before its turn never starts", async () => {
  const g = await guest("fibers1");
  const first = g.exports.end(3);
  const second = g.exports.sum(4);
  const third = g.exports.sum(5);
  const fourth = g.exports.end.with({ name: "fourth" })(3);
  await until(() => g.gates.length === 1);
  assert.deepEqual(
    [first, second, third, fourth].map(({ state }) => state),
    ["waiting", "queued", "queued", "queued"],
  );
  assert.deepEqual(
    fiberfill
      .fibers()
      .map(({ id }) => id)
      .sort(),
    [first, second, third, fourth].map(({ id }) => id).sort(),
  );
  third.cancel("reason");
  assert.equal(await rejection(third), "reason");
  g.gates[0].resolve(1);
  assert.equal(await first, 1);
  assert.equal(await second, 10);
  await until(() => g.gates.length === 2);
  g.gates[1].resolve(2);
  assert.equal(await fourth, 2);
});

test("an entry that waits for one queued behind it is refused", async () => {
  const g = await guest("fibers1");
  let second;
  g.onWait = () => (second = g.exports.sum.with({ name: "second" })(1));
  const error = await rejection(g.exports.end.with({ name: "first" })(3));
  assert.equal(error.code, "deadlock");
  assert.match(error.message, /first -> second -> first/);
  assert.equal(await second, 1);
  none(g);
});

test("a call through another guest that would make an entry wait for itself never starts", async () => {
  const g = await guest("fibers1");
  const asks = assemble(`(module
    (import "env" "entry" (func $entry (param i32) (result i32)))
    (func (export "ask") (param i32) (result i32) (call $entry (local.get 0))))`);
  const { exports } = await fiberfill.instantiate(asks, { env: { entry: g.exports.refused } });
  g.onWait = () => exports.ask(4);
  const error = await rejection(g.exports.end(3));
  assert.equal(error.code, "deadlock");
  assert.deepEqual(fiberfill.fibers(), []);
  none(g);
});

test("a fiber of another guest can wait for an entry, whether first in the queue or further behind", async () => {
  const g = await guest("fibers1");
  const waiting = await waitingGuest();
  waiting.onWait = (n) => g.exports.sum(n);
  assert.deepEqual(await Promise.all([4, 5].map((n) => waiting.exports.wait(n))), [10, 15]);
  none(g);
});

test("cancelling throws in the fiber that waits; the exception passes through its parents", async () => {
  const g = await guest("fibers1");
  const fiber = g.exports.end(3);
  await until(() => g.gates.length === 1);
  const reason = { any: "reason" };
  fiber.cancel(reason);
  assert.equal(await rejection(fiber), reason);
  assert.equal(fiber.state, "cancelled");
  none(g);
  assert.equal(await g.exports.sum(2), 3);
});

test("releasing the entry ends all its fibers, without running any of their code", async () => {
  const g = await guest("fibers1");
  const fiber = g.exports.end(3);
  await until(() => g.gates.length === 1);
  fiber.release();
  assert.equal((await rejection(fiber)).code, "released");
  assert.deepEqual(g.trail, []);
  none(g);
  assert.equal(await g.exports.sum(2), 3);
});

test("an entry that is released while it runs ends at its next operation", async () => {
  const g = await guest("fibers1");
  g.onNote = () => fiberfill.current().release();
  const error = await rejection(g.exports.switches(0));
  assert.equal(error.code, "released");
  assert.deepEqual(g.trail, [1]);
  assert.deepEqual(
    g.fibers().map(({ started }) => started),
    [false],
    "the fiber that was about to be entered",
  );
  g.fibers()[0].release();
  none(g);
});

test("on JSPI a plain call may make fibers, but not enter them", async () => {
  const g = await guest("fibers1", { stacks: "jspi" });
  assert.throws(
    () => g.instance.exports.sum(1),
    (error) => error.code === "cannot-suspend" && /fibers1\.resume.*fiberfill's exports/.test(error.message),
  );
  assert.throws(
    () => g.instance.exports.refused(13),
    (error) => error instanceof WebAssembly.RuntimeError && /fibers1\.table refused/.test(error.message),
  );
  assert.equal(await g.exports.sum(2), 3);
});
