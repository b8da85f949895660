// The rules of the border, each as a function that throws if the rule is broken. The tests of the same names in
// rules_test.go state the rules.
import { check, equal, refusal, rejection, thrown } from "./check.js";
import { ended, lines, log, macrotask, played, scene, when } from "./scene.js";

const states = (fibers) => fibers.map((fiber) => fiber.state);

globalThis.rules = {
  // --- exports

  async J_EXP_1() {
    const { exports, open, asked } = await scene();
    const fibers = [exports.nest(3, 10), exports.nest(5, 20), exports.nest(0, 30)];
    check(
      fibers.every((fiber) => fiber instanceof Promise),
      "a call returns a Promise",
    );
    equal(new Set(fibers).size, 3, "Promises");
    equal(new Set(fibers.map(({ id }) => id)).size, 3, "ids");

    // All calls wait deep in their own frames. On one stack, only the last could go on first.
    await asked(10, 20, 30);
    open(10);
    equal(await fibers[0], 10 + 3 + 2 + 1);
    equal(states(fibers), ["done", "waiting", "waiting"]);
    open(30);
    equal(await fibers[2], 30);
    open(20);
    equal(await fibers[1], 20 + 5 + 4 + 3 + 2 + 1);
  },

  async J_EXP_2() {
    const { exports, instance, open } = await scene();
    equal(await exports.add(20, 22), 42);
    equal(await exports.nothing(), undefined);
    equal(await exports.pair(1, 2.5), [2.5, 1]);
    open(1, 4711);
    equal(await exports.wait(1), 4711);

    const exception = await rejection(exports.throw(7));
    check(
      exception instanceof WebAssembly.Exception && exception.is(instance.exports.oops),
      "the exception is the guest's own",
    );
    equal(exception.getArg(instance.exports.oops, 0), 7);

    const trap = await rejection(exports.trap.with({ name: "Ada" })());
    refusal(trap, "trap", "Ada", "trap");
    equal(trap.fiber, "Ada");
    check(trap.cause instanceof WebAssembly.RuntimeError, "the cause is the engine's error");

    // Even a call that cannot work returns a Promise.
    refusal(await rejection(exports.add(1)), "bad-argument");
    refusal(await rejection(exports.i64("seven")), "bad-argument");
  },

  async J_EXP_3() {
    const seen = [];
    const see = (...args) => seen.push([fiberfill.current(), ...args]);
    const { exports } = await scene({ direct: see, wait: see, wait_all: see });
    equal(fiberfill.current(), undefined);

    const object = {};
    const fibers = [
      exports.ask(1),
      exports.wait(2),
      exports.wait_all(3, 4n, 5.5, 6.25, object),
      exports.wait_then_ask(7),
    ];
    await Promise.all(fibers);
    equal(seen, [
      [fibers[0], 1],
      [fibers[1], 2],
      [fibers[2], 3, 4n, 5.5, 6.25, object],
      [fibers[3], 7],
      [fibers[3], 4],
    ]);
    equal(fiberfill.current(), undefined);
  },

  async J_EXP_4() {
    const { exports } = await scene();
    const events = await played(async () => equal(await exports.add(1, 2), 3));
    equal(events, lines("spawned f0, entered, resumed f0, finished f0, completed"));
  },

  async J_EXP_5() {
    const ends = [];
    const stop = fiberfill.observe((fiber) => {
      if (["done", "failed", "cancelled"].includes(fiber.state)) ends.push(fiber.name);
    });
    const { exports, open, fail, asked } = await scene();
    const [a, b, c] = [1, 2, 3].map((x) => exports.wait.with({ name: "abc"[x - 1] })(x));
    equal(states([a, b, c]), ["queued", "queued", "queued"], "states when the calls have returned");
    await asked(1, 2, 3);
    equal(states([a, b, c]), ["waiting", "waiting", "waiting"]);

    const settled = [];
    const settlements = [a, b, c].map((fiber) =>
      fiber.then(
        () => settled.push(fiber.name),
        () => settled.push(`${fiber.name} failed`),
      ),
    );
    open(3);
    fail(1, "no");
    open(2);
    open(3, "again");
    await Promise.all(settlements);
    equal(settled, ["c", "a failed", "b"], "settlements");
    equal(await c, 3, "c, whose wait was ended twice");
    await macrotask();
    equal(ends, ["c", "a", "b"], "ends of fibers");
    stop();
  },

  // --- imports

  async J_IMP_1() {
    const door = Promise.withResolvers();
    const calls = [];
    const { exports, asked } = await scene({
      wait_all(...args) {
        calls.push([fiberfill.current(), ...args]);
        return door.promise;
      },
    });
    const object = {};
    const fiber = exports.wait_all(-1, -(2n ** 63n), Math.fround(0.1), Math.PI, object);
    await when(() => fiber.state === "waiting");
    equal(calls, [[fiber, -1, -(2n ** 63n), Math.fround(0.1), Math.PI, object]]);
    equal(fiber.waitsFor, "env.wait_all");

    // The fiber is suspended: others run, whatever it waits for.
    equal(await exports.add(1, 2), 3);
    equal(fiber.state, "waiting");
    door.resolve(17);
    equal(await fiber, 17);
    equal(calls.length, 1, "calls of the import");
  },

  async J_IMP_2() {
    let seen;
    const thenable = {
      then(resolve) {
        seen = fiberfill.fibers()[0].state;
        resolve(7);
      },
    };
    const { exports } = await scene({ wait: () => thenable });
    const events = await played(async () => equal(await exports.wait(1), 7));
    equal(seen, "waiting", "state when the thenable calls back");
    equal(
      events,
      lines(
        "spawned f0, entered, resumed f0, waited f0, paused; notified f0, entered, resumed f0, finished f0, completed",
      ),
    );
  },

  async J_IMP_3() {
    const { exports, open, fail } = await scene();
    open(1, 42);
    equal(await exports.wait(1), 42);
    open(2n, -(2n ** 63n));
    equal(await exports.wait_i64(2n), -(2n ** 63n));
    open(3.5, 0.1);
    equal(await exports.wait_f32(3.5), Math.fround(0.1));
    open(4.5, 0.1);
    equal(await exports.wait_f64(4.5), 0.1);
    const object = {};
    open(object, Object.freeze([object]));
    equal((await exports.wait_ref(object))[0], object);

    // A rejection is an exception where the import was called. The guest can catch it there; otherwise it leaves the
    // export.
    const reason = new Error("no");
    fail(5, reason);
    equal(await exports.catch(5), -1);
    equal(await rejection(exports.wait(5)), reason);
    equal(await rejection(exports.nest(4, 5)), reason);
    equal(await rejection(exports.rethrow(5)), reason);
  },

  async J_IMP_4() {
    const reason = { thrown: "at once" };
    const { exports } = await scene({
      wait(x) {
        if (x < 0) throw reason;
        return x * 2;
      },
    });
    const events = await played(async () => {
      const fibers = [exports.waits(1, 3), exports.add(0, 0), exports.catch(-1), exports.rethrow(-1)];
      equal(await fibers[0], 2 + 4 + 6);
      equal(await fibers[2], -1);
      equal(await rejection(fibers[3]), reason);
    });
    // No fiber waited, so none ran in between.
    const [f0, f1, f2, f3] = [0, 1, 2, 3].map((i) => `resumed f${i}, finished f${i}`);
    equal(
      events,
      lines(`spawned f0, spawned f1, spawned f2, spawned f3, entered, ${f0}, ${f1}, ${f2}, ${f3}, completed`),
    );
  },

  async J_IMP_5() {
    const { exports, open, fail } = await scene();
    // Each resumption comes from a callback and ends in another suspension, then in a completion.
    const count = 1000;
    for (let x = 0; x < count; x++) open(x);
    equal(await exports.waits(0, count), (count * (count - 1)) / 2);
    // ... in an exception, and in a trap.
    fail(count, "no");
    equal(await rejection(exports.waits(0, count + 1)), "no");
    refusal(await rejection(exports.wait_then_trap(1)), "trap");
    equal(await exports.add(1, 2), 3);
  },

  // Anything that escapes here fails the test, see open in harness_test.go.
  async J_IMP_6() {
    const { exports, instance, open, fail } = await scene({
      direct(x) {
        throw x;
      },
    });
    const other = exports.wait(9);
    open(1, 5);
    equal((await rejection(exports.wait_then_throw(1))).getArg(instance.exports.oops, 0), 5);
    refusal(await rejection(exports.wait_then_trap(1)), "trap");
    equal(await rejection(exports.wait_then_ask(1)), 5);
    fail(2, undefined);
    equal(await rejection(exports.wait(2)), undefined);
    // A value that its import cannot return.
    open(3n, "no BigInt");
    const wrong = await rejection(exports.wait_i64(3n));
    check(
      wrong instanceof SyntaxError || wrong instanceof TypeError,
      `${wrong} is the engine's error for a value of the wrong type`,
    );
    await macrotask();
    open(9);
    equal(await other, 9);
  },

  // --- multiplexing

  async J_MUX_1() {
    const events = await played(async () => {
      let rounds = 0;
      const { exports, open, asked } = await scene({
        direct() {
          if (rounds === 0) open(1); // the I/O of f0 completes while f1 runs ...
          return rounds++ < 3 ? 1 : 0;
        },
      });
      const waiting = exports.wait(1);
      await asked(1);
      await macrotask();
      await exports.thread(2);
      await waiting;
    });
    // ... and the completion shows only after f1 has given control back.
    equal(
      events,
      lines(`
      spawned f0, entered, resumed f0, waited f0, paused
      spawned f1, entered, resumed f1, yielded f1, resumed f1, notified f0, yielded f1
      resumed f1, yielded f1, resumed f0, finished f0, resumed f1, finished f1, completed`),
    );
  },

  async J_MUX_2() {
    const count = 20;
    const events = await played(async () => {
      const { exports, open } = await scene();
      const fibers = Array.from({ length: count }, (_, x) => exports.wait(x));
      await when(() => fibers.every(({ state }) => state === "waiting"));
      fibers.forEach((_, x) => open(x));
      await Promise.all(fibers);
    });
    const all = (text) => Array.from({ length: count }, (_, i) => lines(text.replaceAll("*", `f${i}`))).flat();
    equal(events, [
      ...all("spawned *"),
      "entered",
      ...all("resumed *, waited *"),
      "paused",
      ...all("notified *"),
      "entered",
      ...all("resumed *, finished *"),
      "completed",
    ]);
  },

  async J_MUX_3() {
    const count = 20;
    const events = await played(async () => {
      const { exports, open, asked } = await scene();
      const fibers = Array.from({ length: count }, (_, x) => exports.wait(x));
      await asked(...fibers.keys());
      for (const [x, fiber] of fibers.entries()) {
        open(x);
        await fiber;
      }
    });
    // However many requests are outstanding, the application pauses as a whole: once for each entry.
    const pauses = events.filter((event) => ["entered", "paused", "completed"].includes(event));
    equal(pauses, [...Array.from({ length: count }, () => ["entered", "paused"]).flat(), "entered", "completed"]);
  },

  async J_MUX_4() {
    const object = {};
    const events = await played(async () => {
      const { exports, open, fail, asked } = await scene();
      const fibers = [exports.wait(1), exports.wait_i64(2n), exports.wait_ref(object), exports.catch(4)];
      await asked(1, 2n, object, 4);
      await macrotask();
      open(2n, 5n);
      equal(await fibers[1], 5n);
      open(object, null);
      equal(await fibers[2], null);
      fail(4);
      equal(await fibers[3], -1);
      open(1, -7);
      equal(await fibers[0], -7);
    });
    // Each callback enters the scheduler, and the scheduler resumes the client with the data, of any type.
    equal(
      events.slice(4),
      lines(`
      entered, resumed f0, waited f0, resumed f1, waited f1, resumed f2, waited f2, resumed f3, waited f3, paused
      notified f1, entered, resumed f1, finished f1, paused
      notified f2, entered, resumed f2, finished f2, paused
      notified f3, entered, resumed f3, finished f3, paused
      notified f0, entered, resumed f0, finished f0, completed`),
    );
  },

  async J_MUX_5() {
    let inside;
    const events = await played(async () => {
      const { exports, instance, open, asked } = await scene({ direct: () => 0 });
      const door = Promise.withResolvers();
      // A callback on the Promise that the leaf waits for. It runs before fiberfill's own.
      const attempt = door.promise.then(() => {
        const before = log();
        const called = exports.ask(1);
        const refused = thrown(() => instance.exports.wait(2));
        inside = { leaf: leaf.state, called: called.state, refused, events: log().slice(before.length) };
        return called;
      });
      const { exports: other } = await scene({ wait: () => door.promise });
      const leaf = other.wait(1);
      await when(() => leaf.state === "waiting");
      door.resolve(5);
      equal(await attempt, 0);
      equal(await leaf, 5);
      open(2);
    });
    // Nothing ran inside the callback: a call is queued, only the scheduler resumes a leaf, and a plain call cannot
    // wait.
    equal([inside.leaf, inside.called, inside.events], ["waiting", "queued", ["spawned f1"]]);
    refusal(inside.refused, "cannot-suspend", "env.wait");
    equal(
      events,
      lines(`
      spawned f0, entered, resumed f0, waited f0, paused
      spawned f1, notified f0, entered, resumed f1, finished f1, resumed f0, finished f0, completed`),
    );

    // A fiber has no method that enters it: cancelling only notifies the scheduler.
    const { prototype } = fiberfill.Fiber;
    const names = [prototype, Object.getPrototypeOf(prototype)].flatMap((object) => Object.getOwnPropertyNames(object));
    equal([...new Set(names)].sort(), [
      "cancel",
      "constructor",
      "export",
      "frames",
      "id",
      "name",
      "release",
      "signal",
      "since",
      "stackUsed",
      "stacks",
      "state",
      "then",
      "waitsFor",
    ]);
    const cancelled = await played(async () => {
      const { exports, asked } = await scene();
      const caught = exports.catch(3);
      await asked(3);
      await macrotask();
      caught.cancel();
      equal([caught.state, log().slice(5)], ["waiting", ["notified f0"]]);
      equal(await caught, -1);
    });
    equal(cancelled.slice(5), lines("notified f0, entered, resumed f0, finished f0, completed"));
  },

  async J_MUX_6() {
    let done;
    const events = await played(async () => {
      let round = 0;
      const { exports, open, asked } = await scene({
        direct() {
          if (round === 0) [3, 1, 2].forEach((x) => open(x)); // f3 runs; f4 is ready behind it
          return round++ === 0 ? 1 : 0;
        },
      });
      const fibers = [1, 2, 3].map((x) => exports.wait(x));
      done = [];
      fibers.forEach((fiber) => fiber.then((x) => done.push(x)));
      await asked(1, 2, 3);
      await macrotask();
      await Promise.all([exports.thread(10), exports.wait_then_ask(4), open(4)]);
      equal(await Promise.all(fibers), [1, 2, 3]);
    });
    equal(done, [3, 1, 2], "results, in the order of their completion");
    // The completions come while f4 runs, and f4's own while f2 runs. They are drained in the same turn, once each.
    equal(
      events.slice(11),
      lines(`
      spawned f3, spawned f4
      entered, resumed f3, yielded f3, resumed f4, notified f2, notified f0, notified f1, waited f4
      resumed f3, finished f3
      resumed f2, notified f4, finished f2, resumed f0, finished f0, resumed f1, finished f1
      resumed f4, finished f4, completed`),
    );
  },

  async J_MUX_7() {
    const { exports, open, fail, asked } = await scene();
    const gone = [exports.wait(1), exports.wait(2)];
    const stubborn = exports.stubborn(3, 1); // catches its cancellation, then waits for 4 and is cancelled again
    const queued = exports.wait(5);
    queued.cancel("dropped");
    equal(await rejection(queued), "dropped");
    await asked(1, 2, 3);
    for (const fiber of [...gone, stubborn]) fiber.cancel("enough");
    open(3, 0); // too late: that wait is over
    for (const fiber of [...gone, stubborn]) equal(await rejection(fiber), "enough");
    equal(await exports.add(1, 2), 3);

    fiberfill.startLog();
    open(1);
    fail(2, new Error("nobody waits"));
    await macrotask();
    equal(log(), [], "events for completions without a wait");
    equal(await exports.add(1, 2), 3);
    ended();
  },

  async J_MUX_8() {
    const events = await played(async () => {
      const { exports, open, fail, asked } = await scene();
      const fibers = [1, 2, 3].map((x) => exports.catch(x));
      await asked(1, 2, 3);
      open(1, 10);
      fail(2, new Error("no"));
      await Promise.all([fibers[0], fibers[1]]);
      fibers[2].cancel();
      equal(await Promise.all(fibers), [10, -1, -1], "success, error, cancel");
    });
    const end = (i) => `resumed f${i}, finished f${i}`;
    equal(
      events.slice(-13),
      lines(
        `notified f0, notified f1, entered, ${end(0)}, ${end(1)}, paused; notified f2, entered, ${end(2)}, completed`,
      ),
    );

    // For a client that does not catch it, the cancellation is an exception.
    const { exports, open, fail, asked } = await scene();
    const failing = exports.wait(4);
    fail(4, "no");
    equal(await rejection(failing), "no");
    const cancelled = exports.wait(5);
    await asked(5);
    cancelled.cancel("enough");
    equal(await rejection(cancelled), "enough");
    open(5);
  },

  async J_MUX_10() {
    const quiet = async (last) => {
      const { length } = log();
      equal(log().at(-1), last);
      for (let i = 0; i < 10; i++) await macrotask();
      equal(log().length, length, "events, some turns of the event loop later");
    };
    const { exports, open, asked } = await scene();
    fiberfill.startLog();
    const waiting = exports.wait(1);
    await asked(1);
    await macrotask();
    await quiet("paused"); // it does not spin ...
    open(1);
    equal(await waiting, 1); // ... and does not pause for ever
    await quiet("completed");

    fiberfill.startLog();
    const begin = performance.now();
    equal(await exports.sleep(50), 50);
    check(performance.now() - begin >= 50, "a sleep of 50 ms lasts that long");
    const turns = log().filter((event) => event === "entered").length;
    check(turns <= 3, `the scheduler pauses while a fiber sleeps (${turns} turns)`); // a timer may be a little early
    await quiet("completed");
    ended();
  },

  // --- identity

  async J_ID_1() {
    const seen = new Map();
    const inside = [];
    const stop = fiberfill.observe((fiber) => seen.set(fiber, [...(seen.get(fiber) ?? []), fiber.state]));
    const { exports, open, asked } = await scene({ direct: () => inside.push(fiberfill.current()) });
    const fiber = exports.wait_then_ask.with({ name: "Ada" })(1);
    const face = () => [fiber.id, fiber.name, fiber.export];
    const before = face();
    equal(fiberfill.fibers(), [fiber]);
    await asked(1);
    equal(fiberfill.fibers(), [fiber]);
    // Other fibers come and go while it waits.
    for (let x = 0; x < 10; x++) await exports.add(x, x);
    open(1);
    await fiber;
    stop();
    equal(inside, [fiber], "current() after the wait");
    equal(seen.get(fiber), ["queued", "running", "waiting", "running", "done"]);
    equal(
      [...seen.keys()].filter(({ name }) => name === "Ada"),
      [fiber],
    );
    equal(face(), before);
    ended();
  },

  async J_ID_2() {
    const { exports, open, asked } = await scene();
    const first = exports.wait(1);
    await asked(1);
    first.cancel("gone");
    await rejection(first);
    // The second fiber takes the first one's place in the table, and its stack. A callback that held either, instead of
    // the fiber, would now resume the wrong fiber.
    fiberfill.startLog();
    const second = exports.wait(2);
    await asked(2);
    const place = fiberfill.log().find(([event]) => event === "spawned")[1];
    open(1, 111);
    await macrotask();
    equal(second.state, "waiting");
    open(2, 222);
    equal(await second, 222);
    const third = exports.wait(3);
    await asked(3);
    check(
      fiberfill.log().filter(([event, index]) => event === "spawned" && index === place).length > 1,
      "places are reused; otherwise this test shows nothing",
    );
    open(3);
    await third;
  },
};
