// Bad input, case by case: each gets a clear error, and nothing is lost. A case throws if the error is a different one.
// bad.run plays one case and then checks what must hold after every case.
import { check, equal, refusal, rejection, thrown } from "./check.js";
import { host } from "./guests.js";
import { ended, lines, log, macrotask, scene, when } from "./scene.js";

const { instantiate, instantiateStreaming, compile, compileStreaming, suspending, FiberError } = fiberfill;

const rules = (init) => fetch("/wat/rules.wasm", init);
const bytes = async () => (await rules()).arrayBuffer();

async function cGuest(change = (fn) => fn) {
  const { imports, attach } = host(
    (fn) => suspending(change(fn)),
    () => fiberfill.current().signal,
  );
  const { instance, exports } = await instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), imports);
  attach(instance);
  return exports;
}

const url = (path) => `${location.origin}${path}`;

/** The reason that a call of an export rejects with. A call that throws is an error. */
function refused(fn, ...args) {
  let fiber;
  try {
    fiber = fn(...args);
  } catch (error) {
    throw new Error(`the call threw ${error} instead of rejecting`);
  }
  return rejection(fiber);
}

// Anything that can be thrown.
const anything = [
  undefined,
  null,
  0,
  -0,
  NaN,
  "",
  "text",
  7n,
  Symbol("s"),
  false,
  () => {},
  [],
  Object.freeze({}),
  Object.create(null),
  {
    then(resolve) {
      resolve("followed");
    },
  },
  Promise.resolve("followed"),
  new Error("an error"),
  new DOMException("a DOMException", "AbortError"),
  new FiberError("trap", "not ours"),
  new Proxy(
    {},
    {
      get() {
        throw new Error("do not look");
      },
    },
  ),
  revoked(),
];

/** A value that throws on every access, even to its class. */
function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Compares by identity, even if a Promise would follow the reason. */
async function rejectsWith(fiber, reason) {
  const same = await fiber.then(
    () => false,
    (got) => Object.is(got, reason),
  );
  check(same, `the fiber rejects with the same ${typeof reason} as its import`);
}

globalThis.bad = {
  // --- sources

  async notWasm() {
    const text = new TextEncoder().encode("<!doctype html>");
    for (const source of [
      text,
      text.buffer,
      new Uint8Array(),
      new ArrayBuffer(0),
      (await bytes()).slice(0, 100),
      new Uint8Array([0, 97, 115, 109, 2, 0, 0, 0]),
    ]) {
      for (const fn of [compile, instantiate]) {
        const error = await rejection(fn(source));
        refusal(error, "not-wasm", "wasm");
        check(error.cause instanceof WebAssembly.CompileError, "the cause is the engine's error");
      }
    }
  },
  async anotherWindow() {
    const frame = document.body.appendChild(document.createElement("iframe"));
    const other = frame.contentWindow;
    const { buffer } = new other.Uint8Array(new Uint8Array(await bytes())); // a copy
    check(!(buffer instanceof ArrayBuffer), "another window's buffer");
    const modules = [await compile(buffer), await compileStreaming(other.fetch(url("/wat/rules.wasm")))];
    check(
      modules.every((module) => module instanceof WebAssembly.Module),
      "its bytes and its Responses are accepted",
    );
    refusal(await rejection(instantiate(new other.WebAssembly.Module(buffer))), "foreign-module");
    const controller = new other.AbortController();
    const { exports, asked } = await scene();
    const fiber = exports.wait.with({ signal: controller.signal })(1);
    await asked(1);
    controller.abort("its signal");
    equal(await rejection(fiber), "its signal");
    frame.remove();
  },
  async notBytes() {
    for (const source of [undefined, null, 7, "text", {}, [], await rules()]) {
      for (const fn of [compile, instantiate]) refusal(await rejection(fn(source)), "bad-argument", "bytes");
    }
  },
  async notAResponse() {
    for (const source of [undefined, null, "text", await bytes(), {}, Promise.resolve(7)]) {
      for (const fn of [compileStreaming, instantiateStreaming])
        refusal(await rejection(fn(source)), "not-a-response", "Response");
    }
    const reason = { no: "response" };
    equal(await rejection(instantiateStreaming(Promise.reject(reason))), reason);
  },
  async wrongMimeType() {
    for (const type of ["text/html", "application/octet-stream", "application/wasm2", ""]) {
      const response = new Response(await bytes(), { headers: { "Content-Type": type } });
      for (const fn of [compileStreaming, instantiateStreaming])
        refusal(await rejection(fn(response)), "wrong-mime-type", "application/wasm", `"${type}"`);
    }
    refusal(await rejection(compileStreaming(fetch("/bad.js"))), "wrong-mime-type", "/bad.js", "text/javascript");
    check(
      (await compileStreaming(
        new Response(await bytes(), { headers: { "Content-Type": "Application/WASM" } }),
      )) instanceof WebAssembly.Module,
      "a Module",
    );
  },
  async notFound() {
    refusal(await rejection(instantiateStreaming(fetch("/nothing.wasm"))), "bad-response", "404", "/nothing.wasm");
  },
  async notWasmStreamed() {
    const response = () => new Response("<!doctype html>", { headers: { "Content-Type": "application/wasm" } });
    refusal(await rejection(instantiateStreaming(response())), "not-wasm");
    refusal(await rejection(compileStreaming(response())), "not-wasm");
  },
  async usedResponse() {
    const response = await rules();
    await response.arrayBuffer();
    refusal(await rejection(instantiateStreaming(response)), "bad-response", "used");
  },
  async brokenOff() {
    const half = (await bytes()).slice(0, 200);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(half));
        controller.error(new Error("the cable is out"));
      },
    });
    const error = await rejection(
      instantiateStreaming(new Response(body, { headers: { "Content-Type": "application/wasm" } })),
    );
    refusal(error, "bad-response", "broke off");
    check(error.cause instanceof Error, "the cause is the error of the body's reader");
  },
  async foreignModule() {
    const module = await WebAssembly.compile(await bytes());
    refusal(await rejection(instantiate(module, { env: {} })), "foreign-module", "fiberfill.compile");
  },

  // --- imports

  async missingImport() {
    const error = await rejection(instantiate(await bytes(), { env: { wait() {} } }));
    refusal(error, "missing-import", "env.direct (function)", "env.wait_ref");
    check(!error.message.includes("env.wait ("), "an import that is given is not called missing");
    check(!error.message.includes("fiberfill.yield"), "an import that fiberfill provides is not called missing");
    refusal(await rejection(instantiate(await bytes())), "missing-import", "env.wait (function)");
    refusal(await rejection(instantiate(await bytes(), null)), "missing-import");
  },
  async importOfWrongKind() {
    const names = ["wait", "wait_i64", "wait_f32", "wait_f64", "wait_ref", "wait_all", "direct"];
    const all = Object.fromEntries(names.map((name) => [name, () => 0]));
    for (const wrong of [7, "text", {}, new WebAssembly.Memory({ initial: 1 })]) {
      const error = await rejection(instantiate(await bytes(), { env: { ...all, direct: wrong } }));
      refusal(error, "bad-import", "direct");
      check(error.cause instanceof WebAssembly.LinkError, "the cause is the engine's");
    }
  },
  async suspendingOfANonFunction() {
    for (const value of [undefined, null, 7, "text", {}, Promise.resolve()])
      refusal(
        thrown(() => suspending(value)),
        "bad-argument",
        "function",
      );
  },
  async startFunctionThatWaits() {
    const wait = suspending(async () => 1);
    const error = await rejection(instantiateStreaming(fetch("/wat/start.wasm"), { env: { wait } }));
    refusal(error, "cannot-suspend", "import env.wait has to wait", "start function");
    const { instance } = await instantiateStreaming(fetch("/wat/start.wasm"), { env: { wait: () => 1 } });
    check(instance instanceof WebAssembly.Instance, "without a wait it works");
  },
  async startFunctionThatThrows() {
    const reason = { thrown: "by the import" };
    equal(
      await rejection(
        instantiateStreaming(fetch("/wat/start.wasm"), {
          env: {
            wait() {
              throw reason;
            },
          },
        }),
      ),
      reason,
    );
  },

  // --- calls

  async unknownExport() {
    const { exports } = await scene();
    refusal(
      thrown(() => exports.nope),
      "unknown-export",
      '"nope"',
      "add",
    );
    refusal(
      thrown(() => exports.nope(1)),
      "unknown-export",
    );
    check(!("nope" in exports) && "add" in exports, "`in` asks without an error");
    check((await exports) === exports, "exports is no thenable");
  },
  async wrongArguments() {
    const { exports } = await scene();
    const not = {
      i32: [undefined, null, 7n, {}, [], Symbol("s"), () => {}],
      i64: [undefined, null, 7, {}, true],
      f32: [undefined, null, 7n, {}, []],
      f64: [undefined, null, 7n, {}, Symbol("s")],
    };
    for (const [type, values] of Object.entries(not)) {
      for (const value of values)
        refusal(await refused(exports[type], value), "bad-argument", `parameter 1 of export ${type}`, type);
    }
    for (const type of ["i32", "i64", "f32", "f64", "ref"])
      refusal(await refused(exports[type]), "bad-argument", `export ${type} takes 1`);
    refusal(await refused(exports.add, 1), "bad-argument", "parameter 2");
    // Every valid value is passed as the engine passes it.
    equal(
      [await exports.i32(2 ** 32 + 5), await exports.i32(true), await exports.f32(0.1), await exports.f64(NaN)],
      [5, 1, Math.fround(0.1), NaN],
    );
    equal(
      [
        await exports.i64(2n ** 64n - 1n),
        await exports.ref(undefined),
        await exports.ref("text"),
        await exports.add(1, 2, 3),
      ],
      [-1n, undefined, "text", 3],
    );
  },
  async stringWithoutALength() {
    const { exports } = await scene();
    refusal(await refused(exports.i32, "text"), "bad-argument"); // no memory either
    const c = await cGuest();
    refusal(await refused(c.yielding, "text"), "bad-argument", "length");
    refusal(await refused(c.sum, 1, 2, 3, "text"), "bad-argument", "length", "4");
    refusal(await refused(c.add64, "7", 7n), "bad-argument", "parameter 1", "i64", "string");
    refusal(await refused(c.addf, 7, new Uint8Array(4)), "bad-argument", "parameter 2", "f32", "Uint8Array");
  },
  async bytesThatDoNotFit() {
    const c = await cGuest();
    refusal(await refused(c.item, "x".repeat(100000)), "bad-argument", "100000 bytes");
    refusal(await refused(c.item, new Uint8Array(2 ** 24)), "bad-argument");
    // A reference needs no room.
    const { exports } = await scene();
    equal(await exports.ref("x".repeat(100000)), "x".repeat(100000));
  },
  async wrongOptions() {
    const { exports } = await scene();
    for (const options of [undefined, null, 7, { name: 7 }, { signal: {} }])
      refusal(
        thrown(() => exports.add.with(options)),
        "bad-argument",
      );
  },

  // --- guests that fail

  async trap() {
    const { exports } = await scene();
    const error = await refused(exports.trap.with({ name: "Ada" }));
    refusal(error, "trap", "Ada", "export trap");
    check(error.cause instanceof WebAssembly.RuntimeError, "the cause is the engine's");
    refusal(await refused((await cGuest()).trap), "trap");
  },
  async recursionWithoutEnd() {
    const { exports } = await scene();
    const other = exports.wait(1);
    const error = await refused(exports.endless.with({ name: "Ada" }), 0);
    refusal(error, "stack-overflow", "Ada", "export endless");
    check(error.cause instanceof RangeError, "the cause is the engine's");
    equal(other.state, "waiting");
    other.cancel();
    await rejection(other);
    refusal(await refused((await cGuest()).endless, 0), "stack-overflow");
  },
  async shadowStackOverflow() {
    const c = await cGuest();
    equal(await c.overflow(40), 40);
    const [first, second, third] = [1001, 1002, 1002].map((id) => c.item(url(`/hold?id=${id}`)));
    await when(() => third.state === "waiting");
    await fetch("/release?id=1001", { method: "POST" });
    equal(await first, value(1001));
    const error = await refused(c.overflow.with({ name: "Ada" }), 70);
    refusal(error, "region-overflow", "Ada", "export overflow", "65536");
    // Ada had the stack of the first fiber, which lies above the second one's, and ran into that.
    const hit = await rejection(second);
    refusal(hit, "region-overflow", "Ada", second.name);
    equal(third.state, "waiting");
    await fetch("/release?id=1002", { method: "POST" });
    equal(await third, value(1002));
    equal(await c.overflow(40), 40);
    // An overflow through all of memory ruins its instance; other instances go on.
    refusal(await refused((await cGuest()).overflow, 1e9), "region-overflow");
  },
  async exception() {
    const { exports, instance } = await scene();
    const error = await refused(exports.throw, 7);
    check(error instanceof WebAssembly.Exception && error.is(instance.exports.oops), "the guest's own exception");
    equal(error.getArg(instance.exports.oops, 0), 7);
    // An exception that JavaScript created keeps its identity through the guest.
    const exception = new WebAssembly.Exception(instance.exports.oops, [8]);
    const { exports: other } = await scene({
      wait: async () => {
        throw exception;
      },
      direct: () => {
        throw exception;
      },
    });
    for (const fn of [other.wait, other.rethrow, other.ask]) equal(await refused(fn, 1), exception);
    check(instance.exports.oops instanceof WebAssembly.Tag, "a tag is passed through");
    equal(exports.oops, instance.exports.oops);
  },

  // --- imports that fail

  async importThatThrows() {
    for (const reason of anything) {
      const { exports } = await scene({
        wait() {
          throw reason;
        },
        direct() {
          throw reason;
        },
      });
      for (const fiber of [exports.wait(1), exports.ask(1), exports.rethrow(1), exports.waits(1, 1)])
        await rejectsWith(fiber, reason);
      equal(await exports.catch(1), -1);
    }
  },
  async importThatRejects() {
    for (const reason of anything) {
      const { exports } = await scene({
        wait: () => Promise.reject(reason),
        wait_ref: async () => {
          throw reason;
        },
      });
      for (const fiber of [exports.wait(1), exports.wait_ref(1), exports.rethrow(1), exports.nest(3, 1)])
        await rejectsWith(fiber, reason);
      equal(await exports.catch(1), -1);
    }
  },
  async importWithABadThenable() {
    const reason = { from: "then" };
    const { exports } = await scene({
      wait: () => ({
        get then() {
          throw reason;
        },
      }),
      wait_i64: () => ({
        then() {
          throw reason;
        },
      }),
      wait_ref: () => ({
        then(resolve, reject) {
          resolve(1);
          reject(reason);
          throw reason;
        },
      }),
    });
    equal(await refused(exports.wait, 1), reason);
    equal(await refused(exports.wait_i64, 1n), reason);
    equal(await exports.wait_ref(null), 1);
  },
  async importThatNeverSettles() {
    const { exports } = await scene({ wait: () => new Promise(() => {}) });
    const fiber = exports.wait.with({ name: "Ada" })(1);
    await when(() => fiber.state === "waiting");
    for (let i = 0; i < 5; i++) await macrotask();
    const listed = fiberfill.fibers().find(({ name }) => name === "Ada");
    equal(
      [listed, listed.name, listed.export, listed.state, listed.waitsFor],
      [fiber, "Ada", "wait", "waiting", "env.wait"],
    );
    check(listed.since > 0 && listed.since <= performance.now(), "since is a time that has passed");
    equal(await exports.add(1, 2), 3);
    fiber.cancel("enough");
    equal(await rejection(fiber), "enough");
    equal([fiber.state, fiber.waitsFor], ["cancelled", undefined]);
  },
  async networkGoesAway() {
    let reason;
    const c = await cGuest(
      (fn) =>
        (...args) =>
          fn(...args).catch((error) => {
            reason = error;
            throw error;
          }),
    );
    const other = c.item(url("/item?id=5"));
    const error = await refused(c.item, url("/cut?id=17"));
    equal(error, reason, "the reason that fetch rejected with");
    check(error instanceof TypeError, `${error} is a network error`);
    equal(await other, value(5));
  },

  // --- waits that cannot be

  async waitThroughJavaScript() {
    const seen = [];
    const main = await scene({
      direct(x) {
        try {
          return main.instance.exports.wait(x); // a plain export, which waits: JavaScript stands in between
        } catch (error) {
          seen.push(error);
          throw error;
        }
      },
    });
    const fiber = main.exports.ask.with({ name: "Ada" })(1);
    const error = await rejection(fiber);
    refusal(error, "cannot-suspend", "Ada", "env.wait", "JavaScript");
    equal(seen, [error]);
    equal(error.fiber, "Ada");
    // As a fiber of its own it may wait.
    let inner;
    const proper = await scene({
      direct: (x) => {
        inner = proper.exports.wait(x);
        return 0;
      },
    });
    proper.open(2, 22);
    equal(await proper.exports.ask(2), 0);
    equal(await inner, 22);
  },
  async plainCallThatWaits() {
    const { instance, exports } = await scene({
      wait: async () => 5,
      wait_f64: (x) => x / 2,
      wait_ref: () => Promise.reject(7),
    });
    refusal(
      thrown(() => instance.exports.wait(1)),
      "cannot-suspend",
      "env.wait",
    );
    refusal(
      thrown(() => instance.exports.wait_ref(1)),
      "cannot-suspend",
      "env.wait_ref",
    ); // its rejection is not handled
    refusal(
      thrown(() => instance.exports.sleep(1)),
      "cannot-suspend",
      "fiberfill.sleep_ms",
    );
    equal(instance.exports.add(1, 2), 3);
    equal(instance.exports.wait_f64(1), 0.5); // without a wait
    equal(await exports.wait(1), 5);
  },

  // --- cancelling

  async signalAbortedAlready() {
    const { exports } = await scene();
    const reason = { why: "aborted" };
    fiberfill.startLog();
    const fiber = exports.wait.with({ signal: AbortSignal.abort(reason) })(1);
    equal(await rejection(fiber), reason);
    equal(fiber.state, "cancelled");
    equal(log().slice(0, 2), lines("spawned f0, dropped f0"));
    check(!log().includes("resumed f0"), "it never ran");
    check(
      (await rejection(exports.add.with({ signal: AbortSignal.abort() })(1, 2))) instanceof DOMException,
      "the signal's own reason",
    );
  },
  async signalAborted() {
    const { exports, asked } = await scene();
    const controller = new AbortController();
    const fiber = exports.wait.with({ signal: controller.signal })(1);
    const after = exports.add.with({ signal: controller.signal })(1, 2);
    await asked(1);
    equal(await after, 3);
    controller.abort("enough");
    equal(await rejection(fiber), "enough");
    equal([fiber.state, after.state], ["cancelled", "done"]);
  },
  async cancelQueued() {
    const { exports } = await scene();
    const fiber = exports.ask(1);
    equal(fiber.state, "queued");
    fiber.cancel();
    const error = await rejection(fiber);
    refusal(error, "cancelled", fiber.name);
    equal([fiber.state, error.fiber], ["cancelled", fiber.name]);
  },
  async cancelWaiting() {
    const { exports, asked } = await scene();
    const [plain, catching, rethrowing] = [exports.wait(1), exports.catch(1), exports.rethrow(1)];
    await asked(1);
    await macrotask();
    for (const fiber of [plain, catching, rethrowing]) fiber.cancel("enough");
    equal([await rejection(plain), await catching, await rejection(rethrowing)], ["enough", -1, "enough"]);
    equal([plain.state, catching.state, rethrowing.state], ["cancelled", "done", "cancelled"]);
  },
  async cancelWithACompletionInTheInbox() {
    const { exports, open, asked } = await scene();
    const fiber = exports.wait(1);
    await asked(1);
    await macrotask();
    open(1, 5);
    const cancelled = new Promise((resolve) => queueMicrotask(() => resolve(fiber.cancel("enough"))));
    equal(await rejection(fiber), "enough");
    await cancelled;
  },
  async cancelYieldingAndSleeping() {
    const { exports } = await scene({ direct: () => 1 });
    const [thread, sleeper] = [exports.thread(1), exports.sleep(1e6)];
    await when(() => sleeper.state === "waiting");
    equal(sleeper.waitsFor, "fiberfill.sleep_ms");
    thread.cancel("enough");
    sleeper.cancel("enough");
    equal([await rejection(thread), await rejection(sleeper)], ["enough", "enough"]);
  },
  async cancelFromInsideAnImport() {
    const inside = [];
    const { exports } = await scene({
      direct() {
        const fiber = fiberfill.current();
        fiber.cancel("enough");
        inside.push(fiber.state, fiber.signal.aborted, fiber.signal.reason);
        return 1;
      },
      wait() {
        fiberfill.current().cancel("enough");
        return new Promise(() => {});
      },
    });
    // The fiber is running: it sees the cancellation at its next wait.
    const [ask, thread, wait] = [exports.ask(1), exports.thread(1), exports.wait(1)];
    equal(await ask, 1);
    equal(await rejection(thread), "enough");
    equal(await rejection(wait), "enough");
    equal(inside.slice(0, 3), ["running", true, "enough"]);
    equal([ask.state, thread.state, wait.state], ["done", "cancelled", "cancelled"]);
  },
  async cancelEnded() {
    const { exports } = await scene();
    const [done, failed] = [exports.add(1, 2), exports.trap()];
    await done;
    const reason = await rejection(failed);
    for (const fiber of [done, failed]) fiber.cancel("too late");
    equal([done.state, await done, failed.state, await rejection(failed)], ["done", 3, "failed", reason]);
    const cancelled = exports.add(1, 2);
    cancelled.cancel("first");
    cancelled.cancel("second");
    equal(await rejection(cancelled), "first");
    cancelled.cancel("third");
    equal([cancelled.state, await rejection(cancelled)], ["cancelled", "first"]);
  },
  async cancelledFiberWaitsAgain() {
    const waits = [];
    const { exports } = await scene({
      wait(x) {
        waits.push(x);
        return new Promise(() => {});
      },
    });
    const fiber = exports.stubborn(10, 1000);
    await when(() => fiber.state === "waiting");
    fiber.cancel("enough");
    equal(await rejection(fiber), "enough");
    equal(waits, [10], "waits for which the function was called");
    // A fiber that never gives up does not block the page, and is ended at last.
    const stubborn = exports.stubborn(10, 300000);
    const end = rejection(stubborn);
    await when(() => stubborn.state === "waiting");
    stubborn.cancel("enough");
    equal(await exports.add(1, 2), 3);
    const { code, cause, message } = await end;
    equal([code, cause, message.includes("stubborn")], ["cancel-ignored", "enough", true]);
  },
};

const value = (id) => (id * 2654435761 + 12345) % 1000003;

const cases = { ...bad };
bad.names = () => Object.keys(cases);

// Plays a case while another fiber, the bystander, waits. The case must not affect the bystander; afterwards everything
// works as before.
bad.run = async (name) => {
  const { exports, open, asked } = await scene();
  const bystander = exports.nest(5, 1);
  await asked(1);
  await cases[name]();
  equal(bystander.state, "waiting", "state of the bystander");
  equal(fiberfill.fibers(), [bystander], "fibers that are left");
  open(1, 100);
  equal(await bystander, 115, "the bystander");
  const c = await cGuest();
  equal(await c.item(url("/item?id=17")), value(17), "one more good call");
  ended();
};
