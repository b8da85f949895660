// cancel, release and AbortSignal, at every point of a fiber's life.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { rejection, rejectionInTime, until, waitingGuest } from "./waiting_guest.mjs";

afterEach(() => {
  fiberfill.limits({ soft: 1000, hard: 4000 });
  assert.deepEqual(fiberfill.fibers(), [], "no fiber is left");
});

/** An AbortController that counts the listeners of its signal. */
function controller() {
  const c = new AbortController();
  const listeners = new Set();
  const { addEventListener, removeEventListener } = c.signal;
  c.signal.addEventListener = (type, fn, options) => {
    assert.equal(options.once, true);
    listeners.add(fn);
    addEventListener.call(c.signal, type, fn, options);
  };
  c.signal.removeEventListener = (type, fn) => {
    listeners.delete(fn);
    removeEventListener.call(c.signal, type, fn);
  };
  return Object.defineProperty(c, "listeners", { get: () => (c.signal.aborted ? 0 : listeners.size) });
}

/** Calls fn the first time the fiber of this name enters a state. */
function when(name, state, fn) {
  const stop = fiberfill.observe((fiber) => {
    if (fiber.name !== name || fiber.state !== state) return;
    stop();
    fn();
  });
}

// The ways to end a fiber: how to do it, and what its Promise rejects with.
const reason = { any: "reason" };
const means = {
  cancel: { end: (fiber) => fiber.cancel(reason), is: (error) => error === reason },
  signal: { end: (fiber, c) => c.abort(reason), is: (error) => error === reason },
  release: {
    end: (fiber) => fiber.release(),
    is: (error) => error.code === "released" && error.fiber === "it",
    kills: true,
  },
  "cancel and release": {
    end: (fiber) => (fiber.cancel(reason), fiber.release()),
    is: (error) => error.code === "released" || error === reason,
    kills: true,
  },
  "cancel, twice": {
    end: (fiber, c) => (fiber.cancel(reason), fiber.cancel("second"), c.abort("third")),
    is: (error) => error === reason,
  },
};

// Where the fiber is. `start` calls an export of g by `call`, and has `end` called at that point. `calls` is how often
// the guest has called its import by then. `unwinds`: it has code on its stack that sees the cancellation.
const points = {
  "unstarted, in the call's own microtask": {
    calls: 0,
    start(g, call, end) {
      call("careful", 0, 1);
      end();
    },
  },
  "told that it is queued": {
    calls: 0,
    start(g, call, end) {
      when("it", "queued", end);
      call("careful", 0, 1);
    },
  },
  "queued behind the limit": {
    calls: 0,
    async start(g, call, end) {
      fiberfill.limits({ soft: 1, hard: 1 });
      const other = g.exports.wait(7);
      await g.gate(7).began;
      call("careful", 0, 1);
      await until(() => true);
      end();
      g.gate(7).resolve(1);
      await other;
      g.calls--;
    },
  },
  "named by the scheduler, about to start": {
    calls: 0,
    start(g, call, end) {
      when("it", "running", end);
      call("careful", 0, 1);
    },
  },
  "running, from inside an import that answers at once": {
    calls: 1,
    unwinds: true,
    start(g, call, end) {
      g.onWait = (n) => (n === 0 ? (end(), 5) : g.gate(n).promise);
      call("later", 0);
    },
  },
  "running, from inside an import that then returns a Promise": {
    calls: 1,
    unwinds: true,
    start(g, call, end) {
      g.onWait = (n) => (end(), g.gate(n).promise);
      call("careful", 0, 1);
    },
  },
  "running, from inside an import that then throws": {
    calls: 1,
    unwinds: true,
    threw: true,
    start(g, call, end) {
      g.onWait = () => {
        end();
        throw reason;
      };
      call("careful", 0, 0);
    },
  },
  "told that it waits": {
    calls: 1,
    unwinds: true,
    start(g, call, end) {
      when("it", "waiting", end);
      call("careful", 0, 1);
    },
  },
  parked: {
    calls: 1,
    unwinds: true,
    async start(g, call, end) {
      call("careful", 0, 1);
      await g.gate(0).began;
      await until(() => true);
      end();
    },
  },
  "parked, in its second wait": {
    calls: 2,
    unwinds: true,
    async start(g, call, end) {
      call("later", 0);
      g.gate(0).resolve(3);
      await g.gate(1).began;
      end();
    },
  },
  asleep: {
    calls: 0,
    unwinds: true,
    async start(g, call, end) {
      const fiber = call("careful", -2, 1);
      await until(() => fiber.waitsFor === "fiberfill.sleep_ms");
      end();
    },
  },
  "told that it sleeps": {
    calls: 0,
    unwinds: true,
    start(g, call, end) {
      when("it", "waiting", end);
      call("careful", -2, 1);
    },
  },
  "waiting for its turn after a yield": {
    calls: 1, // by the other fiber
    unwinds: true,
    start(g, call, end) {
      const fiber = call("careful", -1, 1);
      g.onWait = () => {
        assert.equal(fiber.waitsFor, "fiberfill.yield");
        end();
        return 1;
      };
      g.exports.wait(9);
    },
  },
  "its I/O is in the inbox": {
    calls: 1,
    unwinds: true,
    async start(g, call, end) {
      const fiber = call("careful", 0, 1);
      await g.gate(0).began;
      g.gate(0).promise.then(() => {
        assert.equal(fiber.state, "waiting");
        end();
      });
      g.gate(0).resolve(1);
    },
  },
  "woken, about to go on": {
    calls: 1,
    unwinds: true,
    async start(g, call, end) {
      call("later", 0);
      await g.gate(0).began;
      when("it", "running", end);
      g.gate(0).resolve(1);
    },
  },
  "in the deliver of its import": {
    calls: 1,
    unwinds: true,
    deliver: true,
    start(g, call, end) {
      g.onDeliver = (value) => (end(), value);
      call("later", 0);
      g.gate(0).resolve(1);
    },
  },
  "from the fiber that it waits for": {
    calls: 2,
    unwinds: true,
    start(g, call, end) {
      g.onWait = (n) => (n === 0 ? g.exports.wait(1) : (end(), 1));
      call("careful", 0, 1);
    },
  },
  "from a fiber in the arena that it waits for": {
    calls: 2,
    unwinds: true,
    start(g, call, end) {
      g.onWait = (n) => (n === 0 ? fiberfill.all([g.exports.wait(1)]) : (end(), g.gate(n).promise));
      call("careful", 0, 1);
    },
  },
};

for (const [where, point] of Object.entries(points)) {
  for (const [how, { end, is, kills }] of Object.entries(means)) {
    test(`${where}: ${how}`, async () => {
      const g = await waitingGuest({ deliver: point.deliver });
      const c = controller();
      let fiber, signal;
      const call = (title, ...args) => {
        assert.equal(c.listeners, 0);
        const made = g.call(title, "it", c.signal)(...args);
        made.catch(() => {});
        fiber ??= made;
        signal = fiber.signal;
        return fiber;
      };
      // Observers are told of a fiber before the call that makes it has returned.
      const found = () => (fiber ??= fiberfill.fibers().find(({ name }) => name === "it"));
      let told = 0;
      await point.start(g, call, () => (told++, end(found(), c)));
      const error = await rejection(fiber);
      assert.equal(told, 1);
      if (point.threw) assert.equal(error, reason, "what the import threw was first");
      else assert.ok(is(error), `rejected with ${error}`);
      assert.equal(fiber.state, point.threw && how === "release" ? "failed" : "cancelled");
      assert.equal(fiber.waitsFor, undefined);
      assert.ok(signal.aborted && is(signal.reason));
      assert.equal(g.calls, point.calls, "no import is called for a fiber that has been ended");
      const cleaned = point.threw ? ["it 1", "it 2"] : point.unwinds && !kills ? ["it 1", "it 2"] : [];
      assert.deepEqual(g.trail, cleaned, "which of its code has run");
      assert.equal(c.listeners, 0);
      // Ending it again has no effect, and the other fibers go on.
      fiber.cancel("late");
      fiber.release();
      c.abort("late");
      g.onWait = (n) => g.gate(n).promise;
      g.onDeliver = (value) => value;
      const others = [20, 21].map((n) => g.exports.wait(n));
      for (const n of [21, 20, 0, 1, 2]) g.gate(n).resolve(n);
      assert.deepEqual(await Promise.all(others), [20, 21]);
      assert.equal(await rejection(fiber), error);
    });
  }
}

for (const [how, { end }] of Object.entries(means)) {
  test(`done, or failed: ${how} changes nothing`, async () => {
    const g = await waitingGuest();
    const boom = new Error("boom");
    g.onWait = (n) => (n === 0 ? 4 : Promise.reject(boom));
    const controllers = [controller(), controller()];
    const fibers = controllers.map(({ signal }, n) => g.call("wait", `f${n}`, signal)(n));
    await Promise.allSettled(fibers);
    fibers.forEach((fiber, n) => end(fiber, controllers[n]));
    assert.deepEqual([await fibers[0], await rejection(fibers[1])], [4, boom]);
    assert.deepEqual(
      fibers.map(({ state, signal }) => [state, signal.aborted]),
      [
        ["done", false],
        ["failed", false],
      ],
    );
    assert.deepEqual(
      controllers.map(({ listeners }) => listeners),
      [0, 0],
    );
  });
}

test("a fiber that is cancelled or released while it runs, and never waits again, ends as it likes", async () => {
  const g = await waitingGuest();
  for (const [how, { end }] of Object.entries(means)) {
    const c = controller();
    g.onWait = () => (end(fiberfill.current(), c), 6);
    const fiber = g.call("wait", how, c.signal)(0);
    assert.equal(await fiber, 6);
    assert.equal(fiber.state, "done");
    assert.equal(c.listeners, 0);
  }
});

test("with a signal that has already aborted, a fiber never starts", async () => {
  const g = await waitingGuest();
  for (const given of [reason, "text", null]) {
    const fiber = g.call("wait", "it", AbortSignal.abort(given))(0);
    assert.equal(fiber.state, "cancelled");
    assert.equal(await rejection(fiber), given);
  }
  assert.equal(g.calls, 0);
});

test("a reason may be of any type, and arrives unchanged", async () => {
  const g = await waitingGuest();
  const pending = new Promise(() => {});
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const odd = [
    revoked,
    null,
    0,
    -0,
    NaN,
    "",
    "text",
    Symbol("s"),
    1n,
    false,
    () => {},
    Object.freeze({}),
    Object.create(null),
    new Error("e"),
    pending,
    { then: (resolve) => resolve(1) },
    new Proxy(
      {},
      {
        get() {
          throw new Error("do not look");
        },
      },
    ),
  ];
  for (const given of odd) {
    const ways = [(fiber) => fiber.cancel(given), (fiber, c) => c.abort(given)];
    for (const way of ways) {
      const [c, other] = [new AbortController(), new AbortController()];
      const [careful, queued] = [
        g.call("careful", "careful", c.signal)(0, 3),
        g.call("wait", "queued", other.signal)(0),
      ];
      for (const fiber of [careful, queued]) fiber.catch(() => {}); // inspected below
      way(queued, other);
      await until(() => careful.state === "waiting");
      way(careful, c);
      for (const fiber of [careful, queued]) {
        const got = await fiber.then(
          () => assert.fail("resolved"),
          (error) => [error],
        );
        assert.ok(Object.is(got[0], given));
        assert.ok(Object.is(fiber.signal.reason, given));
        assert.equal(fiber.state, "cancelled");
      }
    }
  }
  const bare = g.exports.wait(1);
  bare.cancel();
  assert.equal((await rejection(bare)).code, "cancelled");
  const aborted = new AbortController();
  const fiber = g.call("wait", "it", aborted.signal)(1);
  aborted.abort();
  assert.equal((await rejection(fiber)).name, "AbortError");
});

test("an import that ignores its signal does not hold a fiber, and its late result is dropped", async () => {
  const g = await waitingGuest();
  const fiber = g.exports.careful(0, 4);
  await g.gate(0).began;
  fiber.cancel(reason);
  assert.equal(await rejection(fiber), reason);
  // The next fiber gets the same slot, and begins its own first wait.
  const next = g.exports.twice(1);
  await g.gate(1).began;
  g.gate(0).resolve(1000);
  await until(() => true);
  assert.equal(next.state, "waiting");
  g.gate(1).resolve(1);
  g.gate(2).resolve(2);
  assert.equal(await next, 3);
});

test("a guest that swallows its cancellation for ever is ended, and the page stays responsive", async () => {
  const g = await waitingGuest();
  const mules = Array.from({ length: 100 }, (_, i) => g.call("forever", `mule${i}`)(0));
  await until(() => mules.every((mule) => mule.state === "waiting"));
  let rounds = 0;
  const page = setInterval(() => rounds++);
  mules.forEach((mule) => mule.cancel(reason));
  const errors = await Promise.all(mules.map(rejection));
  clearInterval(page);
  assert.deepEqual(
    errors.map(({ code, fiber, cause }) => [code, fiber, cause]),
    mules.map(({ name }) => ["cancel-ignored", name, reason]),
  );
  assert.ok(mules.every(({ state }) => state === "failed"));
  assert.match(errors[0].message, /mule0 was cancelled and has begun 1000 waits since, in export forever/);
  assert.ok(rounds > 0);
  assert.equal(g.calls, 100);
});

test("a guest may use many waits to clean up", async () => {
  const g = await waitingGuest();
  const fiber = g.call("careful", "it")(0, 999);
  await g.gate(0).began;
  fiber.cancel(reason);
  assert.equal(await rejection(fiber), reason);
  assert.deepEqual(g.trail, ["it 1", "it 2"]);
});

test("a guest that ignores its cancellation can be released", async () => {
  const g = await waitingGuest();
  const mule = g.call("forever", "mule")(0);
  await g.gate(0).began;
  mule.cancel(reason);
  mule.release();
  assert.equal((await rejection(mule)).code, "released");
});

test("of several releases the first counts: the signal and the Promise have one error", async () => {
  const g = await waitingGuest();
  for (const state of ["waiting", "running"]) {
    const fiber = g.call("wait", "it")(0);
    const { signal } = fiber;
    if (state === "running") when("it", state, () => (fiber.release(), fiber.release()));
    await until(() => state === "running" || fiber.state === state);
    fiber.release();
    fiber.release();
    assert.equal(await rejection(fiber), signal.reason);
    assert.equal(fiber.state, "cancelled");
  }
});

test("released while its cancellation is under way: it ends with the reason, cancelled and not failed", async () => {
  const g = await waitingGuest();
  const fiber = g.call("wait", "it")(0);
  await g.gate(0).began;
  when("it", "running", () => void Promise.resolve().then(() => fiber.release()));
  const all = fiberfill.all([fiber]);
  fiber.cancel(reason);
  assert.equal(await rejection(fiber), reason);
  assert.equal(fiber.signal.reason, reason);
  assert.equal(fiber.state, "cancelled");
  assert.equal(await rejection(all), reason);
});

test("a cancelled fiber waits for no fiber any more: one that it waited for may wait for its end", async () => {
  const g = await waitingGuest();
  let second;
  g.onWait = (n) => {
    if (n === 0) return (second = g.exports.wait(1));
    first.cancel(reason);
    return first;
  };
  const first = g.exports.wait(0);
  assert.equal(await rejection(first), reason);
  assert.equal(await rejection(second), reason);
});

test("AbortSignal.timeout and AbortSignal.any are signals like any other", async () => {
  const g = await waitingGuest();
  const fiber = g.call("careful", "it", AbortSignal.any([AbortSignal.timeout(2), new AbortController().signal]))(0, 2);
  assert.equal((await rejectionInTime(fiber)).name, "TimeoutError");
  assert.deepEqual(g.trail, g.calls === 1 ? ["it 1", "it 2"] : []); // a busy machine may abort it before it starts
});

test("one signal may end ten thousand fibers, in all their states", async () => {
  const g = await waitingGuest();
  const c = controller();
  g.onWait = (n) => (n % 3 === 0 ? g.gate(n).promise : Promise.resolve(n));
  const fibers = Array.from({ length: 10_000 }, (_, n) => g.call("later", `f${n}`, c.signal)(n));
  assert.equal(c.listeners, 10_000);
  await g.gate(900).began;
  c.abort(reason);
  const results = await Promise.allSettled(fibers);
  for (const { status, value, reason: error } of results)
    assert.ok(status === "fulfilled" ? typeof value === "number" : error === reason);
  assert.ok(results.filter(({ status }) => status === "rejected").length > 9000);
  assert.equal(c.listeners, 0);
});

test("cancelled and released fibers give their memory back", async () => {
  let memory;
  const { exports } = await fiberfill.instantiate(
    readFileSync(new URL("../../examples/c-fetch/guest.wasm", import.meta.url)),
    {
      env: { fetch_text: fiberfill.suspending(() => new Promise(() => {})), log() {} },
    },
  );
  memory = exports.memory;
  const size = memory.buffer.byteLength;
  for (let round = 0; round < 8; round++) {
    const fibers = Array.from({ length: 900 }, (_, n) => exports.item(`http://host/item?id=${n}`));
    await until(() => fibers.every((fiber) => fiber.state === "waiting"));
    fibers.forEach((fiber, n) => (n % 2 ? fiber.cancel() : fiber.release()));
    const codes = (await Promise.allSettled(fibers)).map(({ reason }) => reason.code);
    assert.deepEqual(
      codes,
      fibers.map((_, n) => (n % 2 ? "cancelled" : "released")),
    );
  }
  assert.equal(memory.buffer.byteLength, size);
});
