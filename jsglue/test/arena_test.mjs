// Arenas: what they resolve to, what becomes of failures, and what may not belong to one.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { began, escaped, rejection, waitingGuest } from "./waiting_guest.mjs";

const { all, arena, race } = fiberfill;

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

test("all resolves with the values in the order of the fibers", async () => {
  const g = await waitingGuest();
  const result = all([1, 2, 3].map((n) => g.exports.wait(n)));
  await began(g, 1, 2, 3);
  for (const n of [3, 1, 2]) g.gate(n).resolve(n * 10);
  assert.deepEqual(await result, [10, 20, 30]);
});

test("all without members resolves at once", async () => {
  assert.deepEqual(await all([]), []);
});

test("all: the first failure ends the others one by one, the last first; the unstarted never start", async () => {
  const g = await waitingGuest();
  const boom = new Error("boom");
  const names = ["a", "b", "c", "d"];
  const fibers = names.map((name, n) => g.call("careful", name)(n, 2));
  let late;
  const result = all([
    ...fibers,
    arena((a) => {
      a.go((late = g.call("wait", "late")(9)));
    }),
  ]);
  await began(g, 0, 1, 2, 3);
  g.gate(1).reject(boom);
  assert.equal(await rejection(result), boom);
  assert.deepEqual(g.trail, ["b 1", "b 2", "d 1", "d 2", "c 1", "c 2", "a 1", "a 2"]);
  assert.deepEqual(
    [...fibers, late].map((f) => f.state),
    ["cancelled", "failed", "cancelled", "cancelled", "cancelled"],
  );
  const reason = await rejection(fibers[0]);
  assert.deepEqual([reason.code, reason.cause], ["cancelled", boom]);
});

test("all keeps the first error and attaches the others", async () => {
  const g = await waitingGuest();
  const first = new Error("first");
  const result = all(["a", "b", "c"].map((name, n) => g.call(n < 2 ? "clumsy" : "wait", name)(n)));
  await began(g, 0, 1, 2);
  g.gate(2).reject(first);
  const error = await rejection(result);
  assert.equal(error, first);
  assert.deepEqual(
    error.suppressed.map(({ code, fiber }) => [code, fiber]),
    [
      ["trap", "b"],
      ["trap", "a"],
    ],
  );
});

test("all: two failures in one microtask drain are both reported", async () => {
  const g = await waitingGuest();
  const [first, second] = [new Error("first"), new Error("second")];
  const result = all([g.exports.wait(0), g.exports.wait(1)]);
  await began(g, 0, 1);
  g.gate(1).reject(first);
  g.gate(0).reject(second);
  const error = await rejection(result);
  assert.equal(error, first);
  assert.deepEqual(error.suppressed, [second]);
});

test("all rejects if a member is cancelled from elsewhere: its value is missing", async () => {
  const g = await waitingGuest();
  const [a, b] = [g.exports.wait(0), g.exports.wait(1)];
  const result = all([a, b]);
  await began(g, 0, 1);
  a.cancel("not you");
  assert.equal(await rejection(result), "not you");
  assert.equal(b.state, "cancelled");
});

test("race settles as its first member to end, and ends the others in their order", async () => {
  const g = await waitingGuest();
  const fibers = ["a", "b", "c", "d"].map((name, n) => g.call("careful", name)(n, 1));
  const result = race(fibers);
  await began(g, 0, 1, 2, 3);
  g.gate(2).resolve(7);
  assert.equal(await result, 7);
  assert.deepEqual(g.trail, ["a 1", "a 2", "b 1", "b 2", "d 1", "d 2"]);
  assert.match((await rejection(fibers[3])).message, /won the race/);
});

test("race: a failure wins, too", async () => {
  const g = await waitingGuest();
  const boom = new Error("boom");
  const result = race([g.exports.wait(0), g.exports.wait(1)]);
  await began(g, 0, 1);
  g.gate(1).reject(boom);
  assert.equal(await rejection(result), boom);
  assert.equal(boom.suppressed, undefined);
});

test("race reports a loser's own failure", async () => {
  const g = await waitingGuest();
  const result = race([g.call("clumsy", "loser")(0), g.exports.wait(1)]);
  await began(g, 0, 1);
  g.gate(1).resolve(1);
  const error = await rejection(result);
  assert.deepEqual([error.code, error.fiber], ["trap", "loser"]);
});

test("race without members rejects; of a hundred thousand the first wins and no other starts", async () => {
  assert.equal((await rejection(race([]))).code, "bad-argument");
  const g = await waitingGuest();
  g.onWait = (n) => n;
  assert.equal(await race(Array.from({ length: 100_000 }, (_, n) => g.exports.wait(n))), 0);
  assert.equal(g.calls, 1);
});

test("an arena ends when its function and all its fibers have ended", async () => {
  const g = await waitingGuest();
  const order = [];
  const go = Promise.withResolvers();
  let fibers;
  const result = arena(async (a) => {
    fibers = [0, 1].map((n) => a.go(g.exports.wait(n)));
    order.push(await fibers[0]);
    await go.promise;
    return "value";
  }).then((value) => order.push(value));
  order.push("called at once");
  await began(g, 0, 1);
  g.gate(1).resolve("one");
  g.gate(0).resolve("zero");
  await Promise.all(fibers);
  assert.deepEqual(order, ["called at once", 0]);
  go.resolve();
  await result;
  assert.deepEqual(order, ["called at once", 0, "value"]);
});

test("fibers that the function did not await are cancelled when it returns, and that is no failure", async () => {
  const g = await waitingGuest();
  let left;
  const result = arena(async (a) => {
    const fiber = a.go(g.exports.wait(0));
    left = a.go(g.call("careful", "left")(1, 3));
    const { signal } = a;
    assert.equal(signal.aborted, false);
    await began(g, 0, 1);
    g.gate(0).resolve(4);
    return [await fiber, signal];
  });
  const [value, signal] = await result;
  assert.deepEqual([value, signal.aborted, left.state], [4, true, "cancelled"]);
  assert.deepEqual(g.trail, ["left 1", "left 2"]);
});

for (const thrown of [new Error("own"), "a text", undefined, null, 0n, Object.freeze(new Error("frozen"))]) {
  test(`when the function throws ${String(thrown)} fibers are cancelled and the arena rejects with it`, async () => {
    const g = await waitingGuest();
    const fibers = [];
    const result = arena(async (a) => {
      for (const n of [0, 1]) fibers.push(a.go(g.call("careful", `f${n}`)(n, 2)));
      await began(g, 0, 1);
      throw thrown;
    });
    assert.equal(await rejection(result), thrown);
    assert.deepEqual(g.trail, ["f1 1", "f1 2", "f0 1", "f0 2"]);
    assert.equal((await rejection(fibers[0])).cause, thrown);
    assert.equal(
      await rejection(
        arena(() => {
          throw thrown;
        }),
      ),
      thrown,
    );
  });
}

test("a failure that nobody handles is the arena's; one that somebody handles is not", async () => {
  const g = await waitingGuest();
  const boom = new Error("boom");
  const untold = arena(async (a) => {
    const failing = a.go(g.exports.wait(0));
    const other = a.go(g.exports.wait(1));
    await began(g, 0, 1);
    g.gate(0).reject(boom);
    g.gate(1).resolve(1);
    await other;
    while (failing.state !== "failed") await null;
  });
  assert.equal(await rejection(untold), boom);
  const told = arena(async (a) => {
    await a.go(g.exports.wait(0)).catch((error) => assert.equal(error, boom));
    return "fine";
  });
  assert.equal(await told, "fine");
});

test("a failure while the arena ends is attached to the function's error", async () => {
  const g = await waitingGuest();
  const own = new Error("own");
  const result = arena(async (a) => {
    await Promise.all([
      a.go(g.call("clumsy", "x")(0)),
      a.go(g.call("clumsy", "y")(1)),
      began(g, 0, 1).then(() => {
        throw own;
      }),
    ]);
  });
  assert.equal(await rejection(result), own);
  assert.deepEqual(
    own.suppressed.map((e) => e.fiber),
    ["y", "x"],
  );
});

test("an error that passes through two arenas carries the failures of both", async () => {
  const g = await waitingGuest();
  const own = new Error("own");
  const inner = arena(async (a) => {
    a.go(g.call("clumsy", "x")(0));
    await began(g, 0, 1);
    throw own;
  });
  assert.equal(await rejection(all([inner, g.call("clumsy", "y")(1)])), own);
  assert.deepEqual(
    own.suppressed.map((e) => e.fiber),
    ["x", "y"],
  );
});

test("when the error is a string, further errors become unhandled rejections", async () => {
  const g = await waitingGuest();
  const errors = await escaped(async () => {
    const result = all([g.call("clumsy", "x")(0)]);
    const other = race([result], {});
    await began(g, 0);
    result.cancel("a text");
    assert.equal((await rejection(other)).fiber, "x");
    const text = arena(async (a) => {
      a.go(g.call("clumsy", "y")(1));
      await began(g, 1);
      throw "a text";
    });
    assert.equal(await rejection(text), "a text");
  });
  assert.deepEqual(
    errors.map((e) => e.fiber),
    ["y"],
  );
});

test("an error whose message is not a string ends its arena like any other", async () => {
  const g = await waitingGuest();
  for (const message of [Symbol("message"), { toString: () => assert.fail("cannot be told") }, Object.create(null)]) {
    const error = Object.defineProperty(new Error(), "message", { value: message });
    const [other, failing] = [g.exports.wait(0), g.exports.wait(1)];
    g.onWait = (n) => (n === 1 ? Promise.reject(error) : g.gate(n).promise);
    assert.equal(await rejection(all([other, failing])), error);
    assert.equal(other.state, "cancelled");
    const thrown = arena((a) => {
      a.go(g.exports.wait(0));
      throw error;
    });
    assert.equal(await rejection(thrown), error);
  }
});

test("a returned Promise with a then of its own that does nothing is awaited like any other", async () => {
  const result = Object.assign(Promise.resolve(5), { then() {} });
  assert.equal(await arena(() => result), 5);
});

test("an error to which nothing can be attached does not keep its arena from ending", async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const written = Object.defineProperty({}, "suppressed", { value: 1 });
  const errors = await escaped(async () => {
    for (const first of [proxy, written, Object.freeze({}), "text"]) {
      const g = await waitingGuest();
      g.onWait = (n) => Promise.reject(n === 0 ? first : "second");
      const result = await all([0, 1].map((n) => g.exports.wait(n))).catch((error) => [error]);
      assert.ok(Object.is(result[0], first));
    }
  });
  assert.deepEqual(errors, Array(4).fill("second"));
});

test("a fiber that waits for an arena gets its value, or the reason if the import cancelled the arena", async () => {
  const g = await waitingGuest();
  g.onWait = (n) =>
    n === 0
      ? all([g.exports.wait(1), g.exports.wait(2)]).then((v) => v[0] + v[1])
      : n === 3
        ? race([g.exports.wait(1)])
        : n;
  assert.equal(await g.exports.wait(0), 3);
  assert.equal(await g.exports.wait(3), 1);
  g.onWait = (n) => {
    if (n === 5) return new Promise(() => {});
    fiberfill.current().cancel("from inside");
    return all([g.exports.wait(5)]);
  };
  const fiber = g.exports.wait(4);
  assert.equal(await rejection(fiber), "from inside");
});

test("a member that is not a fiber is refused, and the valid ones are cancelled", async () => {
  const g = await waitingGuest();
  const f = g.exports.wait(0);
  assert.equal((await rejection(all([f, 5]))).code, "bad-argument");
  assert.equal(f.state, "cancelled");
  assert.equal((await rejection(arena(5))).code, "bad-argument");
  assert.equal((await rejection(arena((a) => a.go(Promise.resolve())))).code, "bad-argument");
  assert.equal((await rejection(all([g.exports.wait(1)], { signal: "now" }))).code, "bad-argument");
  const alone = g.exports.wait(2);
  for (const none of [undefined, null, 5, {}, alone])
    for (const scope of [all, race]) assert.equal((await rejection(scope(none))).code, "bad-argument");
  alone.cancel();
  await rejection(alone);
});

test("if the iterator throws, the members before that are cancelled", async () => {
  const g = await waitingGuest();
  for (const scope of [all, race]) {
    const boom = new Error("boom");
    let fiber;
    const result = scope(
      (function* () {
        yield (fiber = g.exports.wait(0));
        throw boom;
      })(),
    );
    assert.equal(await rejection(result), boom);
    assert.equal(fiber.state, "cancelled");
  }
});

test("invalid options end the arena and all its members", async () => {
  const g = await waitingGuest();
  const mine = new Error("mine");
  const throws = Object.defineProperty({}, "signal", {
    get() {
      throw mine;
    },
  });
  for (const [options, is] of [
    [throws, (error) => error === mine],
    [{ signal: Object.create(AbortSignal.prototype) }, (error) => error.code === "bad-argument"],
    ["now", (error) => error.code === "bad-argument"],
    [null, (error) => error.code === "bad-argument"],
  ]) {
    const f = g.exports.wait(0);
    for (const result of [all([f], options), race([f], options), arena(() => assert.fail("called"), options)])
      assert.ok(is(await rejection(result)));
    assert.equal(f.state, "cancelled");
  }
  assert.equal(g.calls, 0);
});

test("an arena that would wait for itself is refused", async () => {
  for (const fn of [(a) => a.go(a), (a) => a]) assert.equal((await rejection(arena(fn))).code, "deadlock");
  // Through two others: the one that would close the cycle is refused.
  const open = [];
  const three = [0, 1, 2].map((i) => arena(() => new Promise((resolve) => (open[i] = resolve))));
  three[0].go(three[1]);
  three[1].go(three[2]);
  assert.throws(() => three[2].go(three[0]), { code: "deadlock" });
  for (const end of open) end("fine");
  assert.deepEqual(await Promise.all(three), ["fine", "fine", "fine"]);
});

test("a fiber cannot wait for an arena that waits for it, nor belong to one that it waits for", async () => {
  const g = await waitingGuest();
  let outer;
  const inner = arena((a) => a.go(g.call("wait", "it")(0)));
  outer = arena((a) => a.go(inner));
  g.onWait = () => outer;
  assert.match((await rejection(outer)).message, /it -> an arena -> an arena -> it/);
  g.onWait = (n) => (n === 1 ? waited : g.gate(n).promise);
  const open = Promise.withResolvers();
  const waited = arena(() => open.promise);
  const waits = g.exports.wait(1);
  await began(g, 1);
  assert.throws(() => waited.go(waits), { code: "deadlock" });
  open.resolve(5);
  assert.equal(await waits, 5);
});

test("arenas that share their members are searched for a cycle only once", async () => {
  const open = Promise.withResolvers();
  let pair = [arena(() => open.promise), arena(() => open.promise)];
  for (let depth = 0; depth < 40; depth++) pair = [all(pair), all(pair)];
  open.resolve();
  await all(pair);
});

test("a fiber may be listed twice, and belong to several arenas", async () => {
  const g = await waitingGuest();
  g.onWait = (n) => (n === 9 ? Promise.reject("nine") : g.gate(n).promise);
  const twice = g.exports.wait(0);
  const both = [all([twice, twice, twice]), race([twice, twice])];
  g.gate(0).resolve(4);
  assert.deepEqual(await Promise.all(both), [[4, 4, 4], 4]);
  const nine = g.exports.wait(9);
  assert.equal(await rejection(all([nine, nine])), "nine");
  const shared = g.exports.wait(1);
  const [first, second] = [all([shared]), all([shared])];
  first.cancel("first");
  assert.deepEqual([await rejection(first), await rejection(second)], ["first", "first"]);
});

test("a wait for an arena that waits for the fiber is refused, and leaves nothing unhandled", async () => {
  const source = assemble(`(module
    (import "env" "wait" (func $wait (result i32)))
    (func (export "f") (result i32) (call $wait)))`);
  const { current, suspending } = fiberfill;
  for (const wait of [() => race([current()]), () => arena((a) => void a.go(current()))]) {
    const { exports } = await fiberfill.instantiate(source, { env: { wait: suspending(wait) } });
    const errors = await escaped(async () => assert.equal((await rejection(exports.f())).code, "deadlock"));
    assert.deepEqual(errors, []);
  }
});
