// Cancelled arenas: fibers do not outlive their arena, and end one after another.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { began, rejection, rejectionInTime, until, waitingGuest } from "./waiting_guest.mjs";

const { all, arena, race } = fiberfill;

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

test("a cancelled race ends the last started first, as every arena, and the first to end wins it", async () => {
  const g = await waitingGuest();
  const fibers = [g.call("careful", "a")(0, 0), g.call("careful", "b")(1, 0), g.call("swallow", "c")(2)];
  const result = race(fibers);
  await began(g, 0, 1, 2);
  result.cancel("enough");
  assert.equal(await result, -1);
  assert.deepEqual(g.trail, ["b 1", "b 2", "a 1", "a 2"]);
  const other = race([g.call("careful", "d")(3, 0), g.call("careful", "e")(4, 0)]);
  await began(g, 3, 4);
  other.cancel("enough");
  assert.equal(await rejection(other), "enough");
  assert.deepEqual(g.trail.slice(4), ["e 1", "e 2", "d 1", "d 2"]);
});

test("children end before parents, the last first, through nested arenas and guests that wait for arenas", async () => {
  const g = await waitingGuest();
  const reason = { any: "reason" };
  g.onWait = (n) => {
    if (n !== 5) return g.gate(n).promise;
    // The guest "parent" waits for an arena with two children.
    return arena(async (a) => {
      const children = ["child1", "child2"].map((name, i) => a.go(g.call("careful", name)(6 + i, 2)));
      try {
        return await children[0];
      } finally {
        g.trail.push("the arena's function ends");
      }
    });
  };
  const outer = arena(async (a) => {
    a.go(g.call("careful", "first")(0, 2));
    a.go(
      arena(async (b) => {
        b.go(g.call("careful", "inner1")(1, 2));
        await b.go(g.call("careful", "inner2")(2, 2));
      }),
    );
    a.go(g.call("careful", "parent")(5, 2));
    await a.go(g.call("careful", "last")(4, 2));
  });
  await began(g, 0, 1, 2, 4, 5, 6, 7);
  // A completion after the cancellation does not end the wait: only the fiber's turn to end does.
  outer.cancel(reason);
  for (const n of [0, 1, 2, 4, 6, 7]) g.gate(n).resolve(n);
  assert.equal(await rejection(outer), reason);
  const cleaned = (name) => [`${name} 1`, `${name} 2`];
  assert.deepEqual(
    g.trail.filter((line) => !line.startsWith("the")),
    ["last", "child2", "child1", "parent", "inner2", "inner1", "first"].flatMap(cleaned),
  );
  assert.ok(g.trail.indexOf("the arena's function ends") < g.trail.indexOf("parent 1"));
});

test("a sleeping fiber, and one whose I/O is in the inbox, also end in their turn", async () => {
  const g = await waitingGuest();
  const result = arena(async (a) => {
    a.go(g.call("sleeping", "sleeper")(50));
    a.go(g.call("careful", "inbox")(0, 2));
    const last = a.go(g.call("careful", "last")(1, 400));
    await began(g, 0, 1);
    g.gate(0).resolve(0);
    a.cancel("enough");
    const now = performance.now();
    while (performance.now() < now + 60); // the sleeper is due before the last fiber has cleaned up
    await last;
  });
  assert.equal(await rejection(result), "enough");
  assert.deepEqual(g.trail, ["last 1", "last 2", "inbox 1", "inbox 2"]);
});

test("a fiber whose arena ends before its own turn to end still ends in its turn", async () => {
  const g = await waitingGuest();
  const ways = {
    // The inner arena ends as soon as it is told: no fiber of it has to wait for its turn.
    told: () =>
      arena((a) => new Promise((_, reject) => a.signal.addEventListener("abort", () => reject(a.signal.reason)))),
    // It has ended, but the fiber has not been told, when the outer arena is cancelled.
    "in the inbox": () => arena(() => g.gate(2).promise),
  };
  for (const [how, inner] of Object.entries(ways)) {
    g.trail.length = 0;
    g.onWait = (n) => (n === 0 ? inner() : g.gate(n).promise);
    const parent = g.call("careful", "parent")(0, 0);
    const outer = all([parent, g.call("careful", "sibling")(1, 2)]);
    await until(() => parent.state === "waiting");
    if (how === "in the inbox") {
      g.gate(2).resolve(1);
      g.gate(2)
        .promise.then(() => {})
        .then(() => {})
        .then(() => outer.cancel(how));
    } else outer.cancel(how);
    assert.equal(await rejection(outer), how);
    assert.equal(parent.state, "cancelled");
    assert.deepEqual(g.trail, ["sibling 1", "sibling 2", "parent 1", "parent 2"]);
  }
});

test("an AbortSignal cancels an arena with its reason; a timeout is such a signal", async () => {
  const g = await waitingGuest();
  const controller = new AbortController();
  const stopped = [
    arena((a) => a.go(g.exports.wait(0)), { signal: controller.signal }),
    all([g.exports.wait(1)], { signal: controller.signal }),
  ];
  await began(g, 0, 1);
  controller.abort("stop");
  assert.deepEqual(await Promise.all(stopped.map(rejection)), ["stop", "stop"]);
  const late = race([g.exports.wait(2), g.exports.wait(3)], { signal: AbortSignal.timeout(1) });
  assert.equal((await rejectionInTime(late)).name, "TimeoutError");
});

test("with a signal that has already aborted, nothing starts and the function is not called", async () => {
  const g = await waitingGuest();
  const signal = AbortSignal.abort("never");
  const results = [
    arena(() => assert.fail("called"), { signal }),
    all([g.exports.wait(0)], { signal }),
    race([g.exports.wait(1)], { signal }),
    all([], { signal }),
  ];
  assert.deepEqual(await Promise.all(results.map(rejection)), ["never", "never", "never", "never"]);
  assert.equal(g.calls, 0);
});

test("an arena leaves no listener on its signal", async () => {
  const listeners = new Set();
  const signal = new AbortController().signal;
  signal.addEventListener = (_, fn) => listeners.add(fn);
  signal.removeEventListener = (_, fn) => listeners.delete(fn);
  const result = arena(() => assert.equal(listeners.size, 0), { signal });
  assert.equal(listeners.size, 1);
  await result;
  assert.equal(listeners.size, 0);
  await all([], { signal });
  assert.equal(listeners.size, 0);
});

test("cancelled twice, after its end, and without a reason", async () => {
  const g = await waitingGuest();
  const twice = all([g.exports.wait(0)]);
  twice.cancel("first");
  twice.cancel("second");
  assert.equal(await rejection(twice), "first");
  const over = all([]);
  await over;
  over.cancel("too late");
  assert.notEqual(over.signal.reason, "too late");
  const bare = arena((a) => a.go(g.exports.wait(1)));
  bare.cancel();
  assert.equal((await rejection(bare)).code, "cancelled");
  assert.equal(bare.signal.reason, await rejection(bare));
});

test("the signal of an arena that has ended is aborted, whenever it was first read", async () => {
  for (const make of [() => arena(() => 1), () => all([]), () => arena(() => Promise.reject(2))]) {
    const [before, after] = [make(), make()];
    const { signal } = before;
    await Promise.allSettled([before, after]);
    assert.equal(signal.aborted, true);
    assert.equal(after.signal.aborted, true);
    assert.equal(after.signal.reason.code, "cancelled");
  }
});

test("a listener of an arena's, or of a member's, signal may cancel the arena again", async () => {
  const g = await waitingGuest();
  for (const hears of ["arena", "a", "b"]) {
    g.trail.length = 0;
    const fibers = ["a", "b"].map((name, n) => g.call("careful", name)(n, 0));
    const result = all(fibers);
    const { signal } = { arena: result, a: fibers[0], b: fibers[1] }[hears];
    signal.addEventListener("abort", () => result.cancel("again"));
    await until(() => fibers.every(({ state }) => state === "waiting"));
    result.cancel("why");
    assert.equal(await rejection(result), "why");
    assert.deepEqual(g.trail, ["b 1", "b 2", "a 1", "a 2"]);
  }
});

test("a function that catches the cancellation and returns makes the arena resolve", async () => {
  const g = await waitingGuest();
  const result = all([g.exports.swallow(0), g.exports.swallow(1)]);
  await began(g, 0, 1);
  result.cancel();
  assert.deepEqual(await result, [-1, -1]);
  const fallback = arena((a) => a.go(g.exports.wait(2)).catch(() => "fallback"));
  await began(g, 2);
  fallback.cancel();
  assert.equal(await fallback, "fallback");
});

test("a guest that swallows its cancellation for ever does not keep its arena from ending", async () => {
  const g = await waitingGuest();
  const result = all([g.call("forever", "mule")(0)]);
  await began(g, 0);
  result.cancel("enough");
  const error = await rejection(result);
  assert.deepEqual([error.code, error.fiber, error.cause], ["cancel-ignored", "mule", "enough"]);
});

test("a fiber that is started while the arena ends, or after, is cancelled too", async () => {
  const g = await waitingGuest();
  let late, tooLate, self;
  const result = arena(async (a) => {
    self = a;
    await a.go(g.exports.wait(0)).catch(() => {
      late = a.go(g.exports.wait(1));
    });
    await late;
  });
  await began(g, 0);
  result.cancel("over");
  assert.equal(await rejection(result), "over");
  tooLate = self.go(g.exports.wait(2));
  assert.match((await rejection(tooLate)).message, /the arena has ended/);
  assert.deepEqual([late.state, tooLate.state, g.calls], ["cancelled", "cancelled", 1]);
});

test("arenas nested a thousand deep end, and are cancelled, from the inside out", async () => {
  const g = await waitingGuest();
  const nest = (depth) => arena((a) => a.go(depth === 0 ? g.exports.wait(0) : nest(depth - 1)));
  const ends = nest(1000);
  await began(g, 0);
  g.gate(0).resolve(3);
  assert.equal(await ends, 3);
  g.onWait = () => new Promise(() => {});
  const deep = nest(1000);
  deep.cancel("deep");
  assert.equal(await rejection(deep), "deep");
});

test("ten thousand fibers come and go in one arena, and an arena of a hundred thousand can be cancelled", async () => {
  const g = await waitingGuest();
  g.onWait = (n) => Promise.resolve(n);
  const sum = await arena(async (a) => {
    let sum = 0;
    for (let i = 0; i < 100; i++)
      for (const n of await all(Array.from({ length: 100 }, () => a.go(g.exports.wait(i))))) sum += n;
    return sum;
  });
  assert.equal(sum, 100 * 4950);
  g.onWait = () => new Promise(() => {});
  const result = all(Array.from({ length: 100_000 }, (_, n) => g.exports.wait(n)));
  await g.gate(500).began;
  result.cancel("all of you");
  assert.equal(await rejection(result), "all of you");
});
