// The scenario of fetching fibers with the C guest. The URLs are real; the server holds the responses until it is told
// to release them. Each function throws if the events, or their order, differ from the specification.
import { check, equal, refusal, rejection } from "./check.js";
import { host } from "./guests.js";
import { ended, lines, log, macrotask, played, scene, when } from "./scene.js";

let count = 0; // of ids used, so that each is used only once
const fresh = (n) => Array.from({ length: n }, () => count++);
const url = (id, more = "") => `${location.origin}/hold?id=${id}${more}`;
const release = (id) => fetch(`/release?id=${id}`, { method: "POST" });
const value = (id) => (id * 2654435761 + 12345) % 1000003;

async function guest(change = (fn) => fn) {
  const { imports, attach } = host(
    (fn) => fiberfill.suspending(change(fn)),
    () => fiberfill.current().signal,
  );
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), imports);
  attach(instance);
  return exports;
}

const waiting = (...fibers) => when(() => fibers.every(({ state }) => state === "waiting"));

// Returns the most steps of any turn in the log. The steps of the warm-up do not count.
function mostStepsOfATurn(warmUp) {
  let all = 0;
  let most = 0;
  let turn = 0;
  for (const event of log()) {
    if (event === "entered") turn = 0;
    if (event.startsWith("resumed") && all++ >= warmUp) most = Math.max(most, ++turn);
  }
  return most;
}

// Starts counting what the page can do. Returns a function that ends the count and returns it. Times are in
// milliseconds.
function watch() {
  const seen = { timeouts: 0, messages: 0, frames: 0, longest: 0, total: 0 };
  let go = true;
  const begin = performance.now();
  let last = begin;
  const gap = () => {
    const now = performance.now();
    seen.longest = Math.max(seen.longest, now - last);
    last = now;
  };
  const timeout = () => {
    seen.timeouts++;
    if (go) setTimeout(timeout);
  };
  const frame = () => {
    seen.frames++;
    if (go) requestAnimationFrame(frame);
  };
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    seen.messages++;
    gap();
    if (go) channel.port2.postMessage(0);
  };
  setTimeout(timeout);
  requestAnimationFrame(frame);
  channel.port2.postMessage(0);
  return () => {
    go = false;
    gap();
    seen.total = performance.now() - begin;
    return { ...seen };
  };
}

globalThis.fetching = {
  // f0, f1 and f2 fetch an item each; the responses of f1, f2 and f0 arrive, in this order.
  async threeFibers() {
    const exports = await guest();
    const events = await played(async () => {
      const ids = fresh(3);
      const fibers = ids.map((id) => exports.item(url(id)));
      const states = () => fibers.map(({ state }) => state);
      equal(states(), ["queued", "queued", "queued"]);
      await waiting(...fibers);
      const done = [];
      fibers.forEach((fiber, i) => fiber.then(() => done.push(i)));
      for (const i of [1, 2, 0]) {
        await release(ids[i]);
        equal(await fibers[i], value(ids[i]));
      }
      equal(done, [1, 2, 0]);
    });
    equal(
      events,
      lines(`
      spawned f0, spawned f1, spawned f2
      entered, resumed f0, waited f0, resumed f1, waited f1, resumed f2, waited f2, paused
      notified f1, entered, resumed f1, finished f1, paused
      notified f2, entered, resumed f2, finished f2, paused
      notified f0, entered, resumed f0, finished f0, completed`),
    );
  },

  // f0 fetches two items in sequence, f1 one in between.
  async twoInSequence() {
    const exports = await guest();
    const events = await played(async () => {
      const [a, b, c] = fresh(3);
      const [sum, item] = [exports.sum(url(""), a, 2), exports.item(url(c))];
      await waiting(sum, item);
      await release(a);
      await when(() => sum.state === "running");
      await waiting(sum);
      await release(c);
      equal(await item, value(c));
      await release(b);
      equal(await sum, value(a) + value(b));
    });
    equal(
      events,
      lines(`
      spawned f0, spawned f1
      entered, resumed f0, waited f0, resumed f1, waited f1, paused
      notified f0, entered, resumed f0, waited f0, paused
      notified f1, entered, resumed f1, finished f1, paused
      notified f0, entered, resumed f0, finished f0, completed`),
    );
  },

  // All three responses have arrived when the page releases them, in the order f2, f0, f1, in one macrotask.
  async completionsInOneTurn() {
    const doors = [];
    const arrived = [];
    const exports = await guest((fn) => (...args) => {
      const door = Promise.withResolvers();
      doors.push(door);
      arrived.push(fn(...args).then((length) => () => door.resolve(length)));
      return door.promise;
    });
    const events = await played(async () => {
      doors.length = arrived.length = 0;
      const ids = fresh(3);
      const fibers = ids.map((id) => exports.item(url(id)));
      await waiting(...fibers);
      await Promise.all(ids.map(release));
      const [f0, f1, f2] = await Promise.all(arrived);
      await macrotask();
      [f2, f0, f1].forEach((settle) => settle());
      equal(await Promise.all(fibers), ids.map(value));
    });
    // The turn is entered for the first completion, finds all three, and gives each fiber its own.
    equal(
      events.slice(0, 11),
      lines(`
      spawned f0, spawned f1, spawned f2
      entered, resumed f0, waited f0, resumed f1, waited f1, resumed f2, waited f2, paused`),
    );
    equal(
      events.slice(11),
      lines(`
      notified f2, notified f0, notified f1
      entered, resumed f2, finished f2, resumed f0, finished f0, resumed f1, finished f1, completed`),
    );
  },

  // f1 and f2 are green threads. They take turns while the fetch of f0 is in flight.
  async greenThreads() {
    const exports = await guest();
    const events = await played(async () => {
      const [id] = fresh(1);
      const [item, ...threads] = [exports.item(url(id)), exports.yielding(3), exports.yielding(2)];
      equal(await Promise.all(threads), [3, 2]);
      equal(item.state, "waiting");
      await release(id);
      equal(await item, value(id));
    });
    equal(
      events,
      lines(`
      spawned f0, spawned f1, spawned f2
      entered, resumed f0, waited f0
      resumed f1, yielded f1, resumed f2, yielded f2
      resumed f1, yielded f1, resumed f2, yielded f2
      resumed f1, yielded f1, resumed f2, finished f2
      resumed f1, finished f1, paused
      notified f0, entered, resumed f0, finished f0, completed`),
    );
  },

  // A green thread that never rests does not delay the response of a fetch for ever.
  async fetchAmongBusyThreads() {
    const exports = await guest();
    let go = 1;
    const { exports: busy } = await scene({ direct: () => go });
    const thread = busy.thread(7);
    const [a, b] = fresh(2);
    const sum = exports.sum(url(""), a, 2);
    await release(b);
    await release(a);
    equal(await sum, value(a) + value(b));
    equal(["running", "waiting"].includes(thread.state), true, "the thread is still alive");
    go = 0;
    equal(await thread, 7);
  },

  // The fetch of f1 fails. That ends only f1.
  async rejected() {
    const exports = await guest();
    let reason;
    const events = await played(async () => {
      const ids = fresh(3);
      const fibers = ids.map((id, i) => exports.item(url(id, i === 1 ? "&fail=100" : "")));
      await waiting(...fibers);
      await release(ids[1]);
      reason = await rejection(fibers[1]);
      for (const i of [0, 2]) {
        await release(ids[i]);
        equal(await fibers[i], value(ids[i]));
      }
      equal(
        fibers.map(({ state }) => state),
        ["done", "failed", "done"],
      );
    });
    equal(reason.message, "HTTP 500", "the error that the import threw");
    equal(
      events.slice(11),
      lines(`
      notified f1, entered, resumed f1, finished f1, paused
      notified f0, entered, resumed f0, finished f0, paused
      notified f2, entered, resumed f2, finished f2, completed`),
    );
  },

  // Without fibers the scheduler is not even entered.
  async noFibers() {
    await guest();
    fiberfill.startLog();
    equal(await Promise.all(fiberfill.fibers()), []);
    await macrotask();
    equal(log(), []);
  },

  // The import of f1 throws instead of returning a Promise.
  async exceptionInAnImport() {
    const reason = new RangeError("thrown at once");
    const exports = await guest((fn) => (...args) => {
      if (fiberfill.current().name === "f1") throw reason;
      return fn(...args);
    });
    const events = await played(async () => {
      const ids = fresh(3);
      const fibers = ids.map((id, i) => exports.item.with({ name: `f${i}` })(url(id)));
      equal(await rejection(fibers[1]), reason);
      await waiting(fibers[0], fibers[2]);
      for (const i of [0, 2]) {
        await release(ids[i]);
        equal(await fibers[i], value(ids[i]));
      }
    });
    equal(
      events,
      lines(`
      spawned f0, spawned f1, spawned f2
      entered, resumed f0, waited f0, resumed f1, finished f1, resumed f2, waited f2, paused
      notified f0, entered, resumed f0, finished f0, paused
      notified f2, entered, resumed f2, finished f2, completed`),
    );
  },

  // A rejected Promise is an exception only in the fiber that called the import; another call is unaffected.
  async rejectedAlone() {
    const { exports, open, fail, asked } = await scene();
    const [catching, failing, other] = [exports.catch(1), exports.wait(1), exports.wait(2)];
    await asked(1, 2);
    fail(1, "no");
    equal(await catching, -1);
    equal(await rejection(failing), "no");
    equal(other.state, "waiting");
    open(2);
    equal(await other, 2);
  },

  // Begins a fetch without a response, and cancels it.
  async never() {
    const exports = await guest();
    fetching.fiber = exports.item(url(0).replace("hold", "never"));
    await waiting(fetching.fiber);
  },
  async cancelNever() {
    const reason = new Error("enough");
    fetching.fiber.cancel(reason);
    equal(await rejection(fetching.fiber), reason);
    equal(fetching.fiber.state, "cancelled");
    ended();
  },

  // Runs fibers that compute for step ms between yields, `rounds` times each, after warmUp steps in all that take no
  // time. Returns what the page could do meanwhile, and the most steps of any turn.
  async busy(fibers, rounds, step, warmUp) {
    let steps = 0;
    const { exports } = await scene({
      direct() {
        if (steps++ >= warmUp) {
          const end = performance.now() + step;
          while (performance.now() < end);
        }
        return steps < warmUp + fibers * rounds ? 1 : 0;
      },
    });
    const page = watch();
    fiberfill.startLog();
    await Promise.all(Array.from({ length: fibers }, (_, x) => exports.thread(x)));
    const seen = page();
    ended();
    return { ...seen, steps: mostStepsOfATurn(warmUp) };
  },

  // Runs a fiber that waits for Promises that are resolved already.
  async atOnce(count) {
    const { exports } = await scene({ wait: async () => 1 });
    const page = watch();
    equal(await exports.waits(0, count), count);
    return page();
  },
};
