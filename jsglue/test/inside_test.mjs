// Seeing inside: limits, stalls, cycles, traces and stacks. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { shown } from "./engine.mjs";

const bytes = readFileSync(new URL("../../examples/c-fetch/guest.wasm", import.meta.url));
const { suspending } = fiberfill;

/** The C guest with the given import; text(p, n) reads one of its strings. */
async function guest(fetch_text) {
  let memory;
  const text = (p, n) => new TextDecoder().decode(new Uint8Array(memory.buffer, p, n));
  const { instance, exports } = await fiberfill.instantiate(bytes, {
    env: {
      fetch_text: suspending((p, n, buffer, capacity) =>
        fetch_text(text(p, n), (body) => new Uint8Array(memory.buffer, buffer, capacity).set(body), exports),
      ),
      log() {},
    },
  });
  memory = instance.exports.memory;
  return exports;
}

const body = (id) => new TextEncoder().encode(`{"id":${id},"value":7}`);
const pause = () => new Promise(setImmediate);

/** Resolves when this many calls wait. On a busy machine that may take several turns. */
const waiting = async (calls, n) => {
  while (calls.filter(({ state }) => state === "waiting").length < n) await pause();
};

test("limits bound how many fibers are started, and can be changed while they run", async () => {
  const open = [];
  const exports = await guest(
    (url, write) => new Promise((resolve) => open.push(() => (write(body(1)), resolve(body(1).length)))),
  );
  fiberfill.limits({ soft: 2, hard: 2 });
  const calls = Array.from({ length: 5 }, () => exports.item("http://h/item?id=1"));
  await waiting(calls, 2);
  assert.deepEqual(
    calls.map((c) => c.state),
    ["waiting", "waiting", "queued", "queued", "queued"],
  );
  fiberfill.limits({ soft: 4 });
  await waiting(calls, 4);
  assert.deepEqual(
    calls.map((c) => c.state),
    ["waiting", "waiting", "waiting", "waiting", "queued"],
  );
  while (calls.some(({ state }) => state !== "done")) (open.pop()?.(), await pause());
  assert.deepEqual(await Promise.all(calls), [7, 7, 7, 7, 7]);
  fiberfill.limits({ soft: 1000, hard: 4000 });
  for (const bad of [{ soft: 0 }, { soft: 1.5 }, { soft: 10, hard: 5 }, { hard: NaN }, { soft: "many" }]) {
    assert.throws(() => fiberfill.limits(bad), { code: "bad-argument" });
  }
  assert.throws(() => fiberfill.limits({ soft: "5", hard: 9 }), { message: /got soft "5" and hard 9/ });
});

/** Computes for this many milliseconds. */
const work = (ms) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

test("a call begins in a microtask once the event loop has had control, however long the last turn was", async () => {
  const wat =
    '(module (import "env" "work" (func $work (param f64)))' +
    ' (func (export "work") (param f64) (call $work (local.get 0))))';
  const { exports } = await fiberfill.instantiate(assemble(wat), { env: { work } });
  for (const ms of [20, 0]) {
    const call = exports.work(ms);
    let over = false;
    setImmediate(() => (over = true));
    await call;
    assert.equal(over, false, "the event loop had control before the call was over");
    await pause(); // now it has control
  }
});

/** A guest that calls its import for as long as that returns 1. */
const again = assemble(`(module (import "env" "wait" (func $wait (result i32)))
  (func (export "again") (loop $again (br_if $again (call $wait)))))`);

test("a fiber that an event wakes goes on before the next event, however long it computes, for IndexedDB", async () => {
  let here = true; // the event that the fiber waited for is the last one
  let late = 0;
  let left = 20;
  const wait = suspending(() => {
    if (!here) late++;
    const event = new Promise((resolve) => setImmediate(() => ((here = true), resolve(--left > 0))));
    setImmediate(() => (here = false));
    work(12);
    return event;
  });
  const { exports } = await fiberfill.instantiate(again, { env: { wait } });
  await exports.again();
  assert.equal(late, 0);
});

test("a fiber whose waits end in microtasks still gives the event loop control, however many they take", async () => {
  for (const microtasks of [0, 500]) {
    let control = false;
    let waits = 0;
    const wait = suspending(async () => {
      for (let i = 0; i < microtasks; i++) await null;
      work(1);
      return ++waits < 1000 && !control;
    });
    const { exports } = await fiberfill.instantiate(again, { env: { wait } });
    setImmediate(() => (control = true));
    await exports.again();
    assert.ok(waits < 500, `the event loop had no control during ${waits} waits of ${microtasks} microtasks each`);
  }
});

test("a stall of parents that hold every place and wait for their children is reported, with their names", async () => {
  const warn = mock.method(console, "warn", () => {});
  let told;
  const stalled = new Promise((resolve) => (told = resolve));
  warn.mock.mockImplementation((text) => told(text));
  fiberfill.limits({ soft: 2, hard: 2 });
  const exports = await guest(async (url, write, exports) => {
    if (url.includes("parent")) await exports.item.with({ name: "child" })("http://h/item?id=2");
    write(body(1));
    return body(1).length;
  });
  const parents = [1, 2].map((i) => exports.item.with({ name: `parent ${i}` })("http://h/parent?id=1"));
  const text = await stalled;
  assert.match(text, /2 fibers are started, the hard limit is 2, .* 2 wait for a place/);
  assert.match(text, /env\.fetch_text: parent (1, parent 2|2, parent 1)$/);
  fiberfill.limits({ soft: 1000, hard: 4000 });
  await Promise.all(parents);
  assert.equal(warn.mock.callCount(), 1);
  warn.mock.restore();
});

test("parents that hold every place of the soft limit get going by themselves", async () => {
  fiberfill.limits({ soft: 2, hard: 4000 });
  const exports = await guest(async (url, write, exports) => {
    await null; // so that the children are not started from inside an import
    if (url.includes("parent")) await exports.item("http://h/item?id=2");
    write(body(url.includes("parent") ? 1 : 2));
    return body(1).length;
  });
  assert.deepEqual(await Promise.all([1, 2].map(() => exports.item("http://h/parent?id=1"))), [7, 7]);
  fiberfill.limits({ soft: 1000, hard: 4000 });
});

test("asking for the limits leaves a soft limit as it has grown", async () => {
  fiberfill.limits({ soft: 1, hard: 4000 });
  const ends = [];
  const exports = await guest(async (url, write) => {
    await new Promise((resolve) => ends.push(resolve));
    write(body(1));
    return body(1).length;
  });
  const calls = Array.from({ length: 2 }, () => exports.item("http://h/item?id=1"));
  while (ends.length < 2) await pause(); // the second one has a place since the limit has grown
  assert.equal(fiberfill.limits().soft, 1);
  ends[0]();
  await calls[0];
  const third = exports.item("http://h/item?id=1");
  await pause();
  assert.notEqual(third.state, "queued");
  while (ends.length < 3) await pause();
  for (const end of ends) end();
  await Promise.all([...calls, third]);
  fiberfill.limits({ soft: 1000, hard: 4000 });
});

test("fibers that wait for each other in a cycle: the wait that closes it throws and names them", async () => {
  const fibers = {};
  const exports = await guest((url) => fibers[new URL(url).pathname.slice(1)]);
  const a = (fibers.a = exports.item.with({ name: "A" })("http://h/b?id=1"));
  const b = (fibers.b = exports.item.with({ name: "B" })("http://h/a?id=1"));
  const results = await Promise.allSettled([a, b]);
  assert.equal(results[1].reason.code, "deadlock");
  assert.match(results[1].reason.message, /B -> A -> B/);
  assert.equal(results[0].reason, results[1].reason); // A's import returned a Promise that rejected with it
  assert.deepEqual(fiberfill.fibers(), []);
});

test("a fiber shows what it waits for, since when, and how much stack it uses", async () => {
  let answer;
  const exports = await guest(
    (url, write) => new Promise((resolve) => (answer = () => (write(body(1)), resolve(body(1).length)))),
  );
  const before = performance.now();
  const call = exports.item.with({ name: "look at me" })("http://h/item?id=1");
  await waiting([call], 1);
  const [fiber] = fiberfill.fibers();
  assert.equal(fiber, call);
  assert.deepEqual(
    [fiber.name, fiber.export, fiber.state, fiber.waitsFor],
    ["look at me", "item", "waiting", "env.fetch_text"],
  );
  assert.ok(fiber.since >= before - 1 && fiber.since <= performance.now());
  assert.ok(fiber.stackUsed >= 1024 && fiber.stackUsed < 65536, `${fiber.stackUsed}`);
  answer();
  assert.equal(await call, 7);
  assert.equal(fiber.stackUsed, 0);
});

test("a trap's error names the fiber and the export, also in its stack", async () => {
  const exports = await guest(() => 0);
  const error = await exports.trap
    .with({ name: "the bad one" })()
    .catch((e) => e);
  assert.match(shown(error), /the bad one trapped in export trap/);
});

test("the error of a fiber cancelled without a reason, or released, names it, in its stack too", async () => {
  const exports = await guest(() => new Promise(() => {}));
  for (const end of ["cancel", "release"]) {
    for (const state of ["queued", "waiting"]) {
      const call = exports.item.with({ name: "mine" })("http://h/item?id=1");
      if (state === "waiting") await waiting([call], 1);
      call[end]();
      assert.match(
        shown(await call.catch((e) => e)),
        /^FiberError: fiber mine was (cancelled|released) in export item/,
      );
    }
  }
});

test("trace shows each fiber as a track of spans, ready from its Promise's end until it goes on", async () => {
  const stamps = mock.method(console, "timeStamp", () => {});
  const stop = fiberfill.trace();
  const exports = await guest(async (url, write) => (write(body(1)), body(1).length));
  await exports.item.with({ name: "traced" })("http://h/item?id=1");
  stop();
  await exports.item("http://h/item?id=1");
  const calls = stamps.mock.calls.map((c) => c.arguments);
  stamps.mock.restore();
  assert.deepEqual(
    calls.map(([label, , , track, group]) => [label, track, group]),
    [
      ["traced queued", "fiber 1", "fiberfill"],
      ["traced running", "fiber 1", "fiberfill"],
      ["traced waiting: env.fetch_text", "fiber 1", "fiberfill"],
      ["traced ready: env.fetch_text has settled", "fiber 1", "fiberfill"],
      ["traced running", "fiber 1", "fiberfill"],
    ],
  );
  for (const [at, [, start, end]] of calls.entries()) {
    assert.ok(start <= end);
    if (at > 0) assert.equal(start, calls[at - 1][2], "spans follow each other without a gap");
  }
});

test("trace has 100 tracks, which fibers use one after another", async () => {
  const stamps = mock.method(console, "timeStamp", () => {});
  const [stop, stopAgain] = [fiberfill.trace(), fiberfill.trace()];
  const exports = await guest(async (url, write) => (write(body(1)), body(1).length));
  const wave = () => Promise.all(Array.from({ length: 150 }, () => exports.item("http://h/item?id=1")));
  await wave();
  stop();
  stop(); // once more: nothing happens
  await wave();
  stopAgain();
  await wave();
  const calls = stamps.mock.calls.map((c) => c.arguments);
  stamps.mock.restore();
  assert.equal(new Set(calls.map(([, , , track]) => track)).size, 100);
  assert.equal(
    new Set(calls.map(([label]) => label.split(" ")[0])).size,
    2 * 150,
    "each fiber, as soon as one is free",
  );
  for (const track of new Set(calls.map(([, , , track]) => track))) {
    const spans = calls.filter((call) => call[3] === track);
    for (let i = 1; i < spans.length; i++) assert.ok(spans[i - 1][2] <= spans[i][1], "spans do not overlap");
  }
});

test("the spans of a track are as long as what they show: time spent running is not shown as waiting", async () => {
  const wat = `(module (import "env" "work" (func $work)) (import "env" "wait" (func $wait))
    (func (export "f") (call $work) (call $wait) (call $work)))`;
  const ms = 3;
  const worked = [];
  const work = () => {
    const began = performance.now();
    while (performance.now() < began + ms);
    worked.push([fiberfill.current().name, began, performance.now()]);
  };
  const { exports } = await fiberfill.instantiate(assemble(wat), { env: { work, wait: suspending(async () => {}) } });
  const stamps = mock.method(console, "timeStamp", () => {});
  const stop = fiberfill.trace();
  await Promise.all(["a", "b", "c"].map((name) => exports.f.with({ name })()));
  stop();
  const spans = stamps.mock.calls.map((c) => c.arguments);
  stamps.mock.restore();
  assert.equal(worked.length, 6);
  for (const [name, began, ended] of worked) {
    const during = spans.filter(([label, start, end]) => label.startsWith(name) && start < ended && end > began);
    assert.deepEqual(
      during.map(([label]) => label),
      [`${name} running`],
      `${name} from ${began} to ${ended}`,
    );
  }
});
