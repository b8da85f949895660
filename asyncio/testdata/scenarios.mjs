// The scenarios of js_test.go. Each returns the value that the test compares. "never" is a URL that gets no answer.

// outcome returns how a promise was settled, as text.
const outcome = (promise) =>
  promise.then(
    (value) => `fulfilled ${value}`,
    (reason) => `rejected ${reason instanceof Error ? reason.message : String(reason)}`,
  );

// same checks that promise is rejected with reason, by identity.
const same = (promise, reason) =>
  promise.then(
    () => "fulfilled",
    (r) => (Object.is(r, reason) ? "same" : `other: ${r}`),
  );

const macrotask = () => new Promise((resolve) => setTimeout(resolve, 0));

// get fetches from JavaScript and fails unless the response is OK.
const get = async (url) => {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.text();
};

// bare returns the log without the fibers' names. It joins turns that were cut by the time budget, as happens on a slow
// machine.
const bare = (program) =>
  program
    .log()
    .map((line) => line.split(" ")[0])
    .join(" ")
    .replaceAll(" paused entered", "")
    .split(" ");

// The then of a Promise that settles twice.
function twice(resolve, reject) {
  resolve("first");
  setTimeout(reject, 5, new Error("second"));
  return Promise.resolve();
}

class Twice extends Promise {
  then(resolve, reject) {
    return twice(resolve, reject);
  }
}

export const scenarios = {
  async blocks(program) {
    const warned = new Promise((resolve) => (console.warn = resolve));
    const ends = [program.stuck(), program.noop()];
    const text = await warned;
    program.free();
    return { text, ends: await Promise.all(ends.map(outcome)) };
  },

  async sfetch(program, server) {
    await get(`${server}/warm`); // the platform loads its fetch
    const fetchOne = program.text ?? program.item; // the example's program has the same order
    (program.startLog ?? program.log)();
    const order = [];
    const next = { 1: 2, 2: 0 };
    await Promise.all(
      [0, 1, 2].map(async (i) => {
        await fetchOne(`${server}/${i}`);
        order.push(i);
        if (next[i] !== undefined) await get(`${server}/open/${next[i]}`);
      }),
    );
    return { order, log: program.log() };
  },

  // golang/go#37136, #65773: a Go function called from a JavaScript callback waits.
  async callbacks(program, server) {
    const waits = [program.text(`${server}/never`), program.text(`${server}/never`)];
    const fromTimer = await new Promise((resolve, reject) =>
      setTimeout(() => program.text(`${server}/a`).then(resolve, reject), 0),
    );
    const fromMicrotask = await Promise.resolve().then(() => program.text(`${server}/b`));
    const fromFiber = await program.call(() => program.text(`${server}/c`));
    const nested = await program.call(() => program.call(() => program.call(() => program.text(`${server}/d`))));
    const fromPlainFiber = await new Promise((resolve, reject) =>
      program.spawn("plain", () => program.text(`${server}/e`).then(resolve, reject)),
    );
    return {
      fromTimer,
      fromMicrotask,
      fromFiber,
      nested,
      fromPlainFiber,
      stillWaiting: await Promise.race([...waits, macrotask().then(() => true)]),
    };
  },

  // golang/go#69720: Go code waits for a Promise that JavaScript settles later.
  async promises(program) {
    let settle;
    const waits = program.call(
      () =>
        new Promise((resolve) => {
          settle = resolve;
        }),
    );
    const meanwhile = await program.call(() => 7); // not a Promise
    settle("later");
    return {
      meanwhile,
      value: await waits,
      thenable: await program.call(() => ({ then: (resolve) => resolve("thenable") })),
      twice: await Promise.all([
        program.call(() => Promise.resolve("own")),
        program.call(() => Object.assign(Promise.resolve("kept"), { then: twice })),
        program.call(() => new Twice(() => {})),
        ...[1, 2, 3].map((n) => program.call(() => new Promise((resolve) => setTimeout(resolve, 20, n)))),
      ]),
    };
  },

  async errors(program) {
    const object = { any: "thing" };
    const error = new TypeError("its own");
    return {
      fail: await outcome(program.fail()),
      late: await program.late().catch(String),
      cancelled: await program.cancelled().catch(String),
      panics: await outcome(program.panics()),
      frames: await program
        .panics()
        .catch((error) =>
          error.stack
            .split("\n")
            .map((line) => line.replace(/\(\/.*\/(.*):\d+\)/, "($1)").replace(/func[\d.]+ /, "func ")),
        ),
      unsupported: await outcome(program.unsupported()),
      rejectedObject: await same(
        program.wrap(() => Promise.reject(object)),
        object,
      ),
      rejectedError: await same(
        program.wrap(() => Promise.reject(error)),
        error,
      ),
      rejectedUndefined: await same(
        program.wrap(() => Promise.reject(undefined)),
        undefined,
      ),
      rejectedString: await same(
        program.wrap(() => Promise.reject("text")),
        "text",
      ),
      message: await outcome(program.message(() => Promise.reject(new Error("one", { cause: error })))),
      noMessage: await outcome(program.message(() => Promise.reject(Object.create(null)))),
      thrown: await same(
        program.call(() => {
          throw error;
        }),
        error,
      ),
      thrownUndefined: await same(
        program.call(() => {
          throw undefined;
        }),
        undefined,
      ),
      refused: await outcome(program.text("http://127.0.0.1:1/")),
      after: await outcome(program.noop()),
    };
  },

  // Three calls wait at once; their waits end in another order, and twice.
  async calls(program) {
    const doors = [0, 1, 2].map(() => Promise.withResolvers());
    const begun = doors.map(() => Promise.withResolvers());
    let asked = 0;
    const ask = (i) => {
      asked++;
      begun[i].resolve();
      return doors[i].promise;
    };
    const waits = doors.map((_, i) => program.call(ask, i));
    const promises = waits.every((wait) => wait instanceof Promise) && new Set(waits).size;
    const inside = asked; // nothing has run yet
    await Promise.all(begun.map(({ promise }) => promise));
    const settled = [];
    waits.forEach((wait, i) =>
      wait.then(
        (v) => settled.push(`${i} ${v}`),
        (e) => settled.push(`${i} failed ${e}`),
      ),
    );
    doors[2].resolve("c");
    doors[0].reject("a");
    doors[2].resolve("again");
    await Promise.allSettled([waits[2], waits[0]]);
    await macrotask();
    const before = [...settled];
    doors[1].resolve("b");
    await waits[1];
    return { promises, inside, asked, before, settled };
  },

  async given(program) {
    const object = {};
    const first = await program.given(1, "two", object);
    const second = await program.given();
    return { first: first.slice(0, 3), same: first[3] === object, second };
  },

  async without(program) {
    program.startLog();
    const value = await outcome(program.noop());
    return { value, log: bare(program) };
  },

  // The called function gets the arguments. Its caller waits, and other fibers run meanwhile.
  async asks(program) {
    const object = {};
    const seen = [];
    const [begun, done] = [Promise.withResolvers(), Promise.withResolvers()];
    const waits = program.call(
      (...args) => {
        seen.push(args);
        begun.resolve();
        return done.promise;
      },
      -1,
      "x",
      object,
    );
    await begun.promise;
    await macrotask(); // the turn is over
    program.startLog();
    const meanwhile = await program.call(async () => 7);
    const log = bare(program);
    done.resolve("done");
    return {
      meanwhile,
      value: await waits,
      args: seen[0].slice(0, 2),
      same: seen[0][2] === object,
      calls: seen.length,
      log,
    };
  },

  // A thenable that calls back at once.
  async thenable(program) {
    program.startLog();
    let log;
    const value = await program.call(() => ({
      then(resolve) {
        log = bare(program);
        resolve("thenable");
      },
    }));
    return { value, log, after: bare(program) };
  },

  // A fiber that a callback resumed waits again, a thousand times, returns, fails, and panics.
  async again(program) {
    const upTo = (n, end) => async (i) => {
      await undefined;
      if (i < n) return i;
      return end();
    };
    return {
      sum: await program.sum(upTo(1000, () => null)),
      fails: await outcome(
        program.sum(
          upTo(10, () => {
            throw "no";
          }),
        ),
      ),
      panics: await outcome(program.callThenPanic(async () => "out of a microtask")),
    };
  },

  // An error out of a microtask rejects its own fiber's Promise. An error that escapes ends Node (run.mjs).
  async escapes(program) {
    const escaped = [];
    const note = (error) => escaped.push(String(error));
    process.on("uncaughtException", note);
    process.on("unhandledRejection", note);
    let settle;
    const other = program.call(
      () =>
        new Promise((resolve) => {
          settle = resolve;
        }),
    );
    const reason = { any: "thing" };
    const results = {
      panics: await outcome(program.callThenPanic(async () => "one")),
      rejected: await same(
        program.call(async () => {
          await undefined;
          throw reason;
        }),
        reason,
      ),
      thenThrows: await same(
        program.call(() => ({
          then() {
            throw reason;
          },
        })),
        reason,
      ),
      tooLate: await same(
        program.callUntil(AbortSignal.abort(reason), async () => {
          throw "nobody waits for this";
        }),
        reason,
      ),
    };
    settle("unharmed");
    const otherOne = await other;
    await macrotask();
    process.off("uncaughtException", note);
    process.off("unhandledRejection", note);
    return { ...results, other: otherOne, escaped };
  },

  async cancel(program, server) {
    const controller = new AbortController();
    const promise = program.text(`${server}/never`, controller.signal);
    await get(`${server}/arrived`); // the request has arrived at the server
    const reason = { no: "longer wanted" };
    controller.abort(reason);
    const inFlight = await same(promise, reason);
    await get(`${server}/left`); // and the server has seen its client go
    const before = await same(program.text(`${server}/never`, AbortSignal.abort(reason)), reason);
    let listeners = 0; // the listener on a signal that is never aborted is removed in the end
    const signal = {
      aborted: false,
      addEventListener: () => {
        listeners++;
      },
      removeEventListener: () => {
        listeners--;
      },
    };
    const after = await program.text(`${server}/a`, signal);
    await program.tooLate(signal);
    return { inFlight, before, after, listeners };
  },

  // The turn's budget: a fiber that never stops by itself does not starve the event loop.
  async budget(program) {
    const flag = { enough: false };
    const spins = program.spin(flag);
    let timers = 0;
    await new Promise((resolve) => {
      const timer = setInterval(() => {
        if (++timers === 3) {
          clearInterval(timer);
          resolve();
        }
      }, 0);
    });
    flag.enough = true;
    return { timers, spun: (await spins) > 0 };
  },

  async ownWays(program) {
    return { slept: (await program.sleep(5)) >= 5, blocked: await program.block() };
  },

  async stop(program, server, exited) {
    const { setTimeout: set, clearTimeout: clear } = globalThis;
    const timers = new Map(); // how long those take that have neither fired nor been cleared
    globalThis.setTimeout = (fn, ms) => {
      const id = set(() => (timers.delete(id), fn()), ms);
      timers.set(id, ms);
      return id;
    };
    globalThis.clearTimeout = (id) => (timers.delete(id), clear(id));
    const waits = program.text(`${server}/never`);
    await get(`${server}/arrived`);
    program.stop();
    const waited = await outcome(waits);
    await exited;
    // A timer that fires after the program has exited is an error that nobody catches.
    return { waited, ...program.ended, timersLeft: [...timers.values()].filter((ms) => ms > 1000) };
  },

  // values fetches the items, through Go or, for comparison, plainly.
  async thousand(program, server) {
    const urls = Array.from({ length: 1000 }, (_, id) => `${server}/item?id=${id}`);
    const item = program.item;
    const plain = async (url) => (await (await fetch(url)).json()).value;
    const timed = async (fn) => {
      const start = performance.now();
      const values = await Promise.all(urls.map((url) => fn(url)));
      return { values, ms: performance.now() - start };
    };
    await timed(plain); // warms up connections and code
    await timed(item);
    const through = await timed(item);
    const direct = await timed(plain);
    return { values: through.values, ms: through.ms, plain: direct.values, plainMs: direct.ms };
  },

  async costs(program) {
    const each = async (n, fn) => {
      await fn(n);
      const start = performance.now();
      await fn(n);
      return Math.round(((performance.now() - start) / n) * 1e6);
    };
    return {
      "ns/plain-js.Func": await each(20_000, async (n) => {
        for (let i = 0; i < n; i++) await program.nothing();
      }),
      "ns/call": await each(20_000, async (n) => {
        for (let i = 0; i < n; i++) await program.noop();
      }),
      "ns/call-of-1000": await each(1000, (n) => Promise.all(Array.from({ length: n }, () => program.noop()))),
      "ns/await-call": await each(20_000, async (n) => {
        for (let i = 0; i < n; i++) await program.call(() => 1);
      }),
      "ns/yield": Math.round(await program.yields(200_000)),
    };
  },
};
