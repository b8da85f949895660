// fiberfill/actors: actors in wasm and in JavaScript, on JSPI. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { play, scenarios } from "./actors_player.mjs";
import { assemble } from "./assemble.mjs";

const before = Object.getOwnPropertyNames(globalThis);
const actors = await import("../web/dist/npm/esm/actors.js");
const { ActorError, compileActor, Runtime, VirtualClock } = actors;

const file = (path) => readFileSync(new URL(path, import.meta.url));
const guest = await compileActor(file("../examples/c-actor/guest.wasm"));

test("importing touches no global", () => assert.deepEqual(Object.getOwnPropertyNames(globalThis), before));

// The same scenarios, with the same outcome, as in Go on wazero: asyncio/actors/wasm.
const all = scenarios(file("../examples/c-actor/scenarios.txt").toString());
assert(all.length > 20);
for (const { title, script } of all) {
  test(title, async () => assert.equal(await play(actors, guest, script), script));
}

/** A runtime with a tester, whose answers it keeps. */
async function world(options = {}) {
  const clock = options.clock ?? new VirtualClock();
  const answers = [];
  const ended = new Map();
  const runtime = new Runtime({ clock, ended: (id, error) => ended.set(id, error), ...options });
  let tester;
  const id = runtime.spawnNative((host, message) => {
    tester = host;
    if (message.source !== 0) answers.push(message);
    return true;
  }, { room: 2000 });
  runtime.send(id, 0);
  await runtime.step();
  const from = (to, type, ...numbers) => assert.equal(tester.send(to, type, new Uint8Array(Int32Array.from(numbers).buffer)), 0);
  const steps = async (n) => {
    for (let i = 0; i < n; i++) {
      await runtime.step();
      clock.pass(1);
    }
  };
  return { runtime, clock, answers, ended, from, steps, text: () => answers.map(({ payload }) => new TextDecoder().decode(payload)) };
}

const code = (expected) => (error) => error instanceof ActorError && error.code === expected;

test("S-SLEEP by the real clock: the order, and not before the deadline", async () => {
  const { runtime, answers, from, text } = await world({ clock: actors.realClock() });
  const sleeper = runtime.spawn(guest, { stack: 32768 });
  const other = runtime.spawnNative((host, { source }) => host.send(source, 201, "pong") === 0);
  from(sleeper, 204);
  from(other, 200);
  const start = performance.now();
  await runtime.run(() => answers.length === 1);
  assert.deepEqual(text(), ["pong"]);
  assert(runtime.info(sleeper).blocked);
  await runtime.run(() => answers.length === 2);
  assert(performance.now() - start >= 50);
  assert.deepEqual(text(), ["pong", "slept"]);
  from(sleeper, 200);
  await runtime.run(() => answers.length === 3);
  runtime.close();
});

test("S-SLEEP by the virtual clock: run skips the time in which nobody does anything", async () => {
  const { runtime, clock, answers, from, text } = await world();
  const sleeper = runtime.spawn(guest, { stack: 32768 });
  from(sleeper, 300, 3_600_000);
  from(sleeper, 204);
  await runtime.run(() => answers.length === 2);
  assert.equal(clock.now(), 3_600_050);
  assert.equal(text()[1], "slept");
});

test("E-STEP-5 a thousand actors sleep at once, and each has its own stack", async () => {
  const { runtime, answers, from } = await world();
  const ids = Array.from({ length: 1000 }, () => runtime.spawn(guest, { stack: 32768 }));
  assert.equal(runtime.fibers, 1000);
  for (const id of ids) from(id, 306, 1 + (id % 50));
  await runtime.run(() => answers.length === 1000);
  for (const { source, payload } of answers) {
    const levels = 1 + (source % 50);
    assert.equal(new Int32Array(payload.buffer)[0], (levels * (levels + 1)) / 2);
  }
  runtime.close();
  assert.equal(runtime.fibers, 0);
});

test("E-MSG-1 a mailbox with 100,000 messages is emptied in order, and each is taken out at once", async () => {
  const { runtime } = await world();
  let n = 0;
  const id = runtime.spawnNative((_, { type }) => type === n++, { room: 100_000 });
  for (let i = 0; i < 100_000; i++) runtime.send(id, i);
  assert.throws(() => runtime.send(id, 0), code("mailbox-full"));
  await runtime.run(() => n === 50_000);
  for (let i = 0; i < 50_000; i++) runtime.send(id, 100_000 + i);
  await runtime.run(() => n === 150_000);
  assert.equal(runtime.info(id).mailbox, 0);
  runtime.close();
});

test("E-MSG-1 what is no message is refused, and nothing of it is in the mailbox", async () => {
  const { runtime, ended } = await world();
  const heard = [];
  const id = runtime.spawnNative((host, { type, payload }) => {
    heard.push([type, payload.length]);
    if (type === 2) assert.throws(() => host.send(host.self, 1, 5), code("bad-argument"));
    return true;
  }, { room: 2 });
  for (const payload of [5, null, {}, [1], new ArrayBuffer(3), new Uint16Array(2), true]) assert.throws(() => runtime.send(id, 1, payload), code("bad-argument"));
  for (const type of [undefined, null, "1", 1.5, NaN, 1n, {}]) assert.throws(() => runtime.send(id, type), code("bad-argument"));
  const detached = new Uint8Array(3);
  detached.buffer.transfer();
  assert.throws(() => runtime.send(id, 1, detached), TypeError);
  assert.equal(runtime.info(id).mailbox, 0);
  runtime.send(id, 2, new Uint8Array(0));
  runtime.send(id, 2 ** 32 - 3, "four");
  await runtime.run(() => heard.length === 2);
  assert.deepEqual(heard, [[2, 0], [-3, 4]]);
  await assert.rejects(runtime.run(true), code("bad-argument"));
  for (const module of [undefined, null, 5, {}, guest.module]) assert.throws(() => runtime.spawn(module), code("bad-argument"));
  assert.equal(ended.size, 0);
  runtime.close();
});

test("E-MSG-1 the payload is the receiver's own copy, whatever kind of bytes it is", async () => {
  const { runtime } = await world();
  const heard = [];
  const id = runtime.spawnNative((_, { payload }) => heard.push(payload) > 0);
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  for (const bytes of [new Uint8Array(2), Buffer.alloc(2), shared]) {
    runtime.send(id, 1, bytes);
    bytes.fill(1);
  }
  await runtime.run(() => heard.length === 3);
  for (const payload of heard) {
    assert.deepEqual(payload, new Uint8Array(2));
    assert(payload.buffer instanceof ArrayBuffer);
  }
  runtime.close();
});

test("E-SPAWN-1 a handler of another type is refused at the spawn, whatever the class", async () => {
  const { runtime } = await world();
  for (const type of ["", "(param i32 i32 i32 i32) (result i32)", "(param i32 i64 i32 i32) (result i64)"]) {
    const module = await compileActor(assemble(`(module (func (export "handle_message") ${type} (unreachable)))`));
    for (const stack of [0, 32768, 0]) assert.throws(() => runtime.spawn(module, { stack }), code("bad-module"), `${type} ${stack}`);
  }
  assert.equal(runtime.fibers, 0);
  runtime.close();
});

test("E-LIFE-2 what is no number of an actor stops none", async () => {
  const { runtime, ended } = await world();
  const id = runtime.spawnNative(() => true);
  for (const other of [undefined, null, "", String(id), id + 0.5, id + 2 ** 32, -id, {}, NaN]) {
    assert.equal(runtime.stop(other), false, String(other));
    assert.equal(runtime.info(other), undefined);
    assert.throws(() => runtime.send(other, 1), code("no-actor"));
  }
  assert.equal(ended.size, 0);
  assert.equal(runtime.stop(id), true);
  runtime.close();
});

test("E-LIFE-2 nothing of a guest runs that is stopped while it is blocked; who would wake it is told", async () => {
  let signal;
  const { runtime, answers, ended, from, steps } = await world({ ready: (fd, write, s) => ((signal = s), new Promise(() => {})) });
  const id = runtime.spawn(guest, { stack: 32768 });
  from(id, 302, 7, 0);
  await steps(2);
  assert.equal(runtime.info(id).waitsFor, "descriptor 7 to be readable");
  assert(!signal.aborted);
  assert.equal(runtime.stop(id), true);
  assert.equal(runtime.stop(id), false);
  assert(signal.aborted);
  await steps(10);
  assert.deepEqual([...ended], [[id, undefined]]);
  assert.equal(answers.length, 0);
  assert.equal(runtime.fibers, 0);
  assert.throws(() => runtime.send(id, 1), code("no-actor"));
});

test("E-LIFE-2 a guest that catches everything does not run either", async () => {
  const bytes = file("../asyncio/actors/wasm/testdata/stubborn.wasm");
  const ran = [];
  const { runtime, answers, from, steps } = await world({ log: (id) => ran.push(id) });
  const swallows = async (host) => {
    try {
      await host.sleepMs(10);
    } catch {
      // not even the import can
    }
    return 1;
  };
  for (const twice of [swallows, () => new Promise(() => {}), async (host) => host.sleepMs(10)]) {
    const module = await compileActor(bytes, { imports: { twice } });
    for (const type of [1, 2]) {
      const id = runtime.spawn(module, { stack: 32768 });
      from(id, type);
      await steps(1);
      assert(runtime.info(id).blocked);
      runtime.stop(id);
      await steps(20);
    }
  }
  assert.deepEqual([ran, answers], [[], []]);
});

// The engine gives back no stack that is merely forgotten: Node ends with some 32,000.
test("E-SPAWN-2 E-LIFE-2 stacks are given back: of actors that end, are stopped while they are blocked, and while they are idle", async () => {
  const { runtime, from } = await world();
  for (let i = 0; i < 36_000; i++) {
    const id = runtime.spawn(guest, { stack: 32768 });
    if (i % 3 < 2) from(id, [204, 307][i % 3]);
    await runtime.step();
    if (i % 3 !== 1) assert(runtime.stop(id));
    if (i % 1000 === 0) await new Promise((resolve) => setTimeout(resolve)); // the engine's
  }
  assert.equal(runtime.fibers, 0);
});

test("E-LIFE-1 how actors end is told, and traps carry the reason", async () => {
  const { runtime, ended, from, steps } = await world();
  const deep = runtime.spawn(guest, { stack: 32768 });
  const trap = runtime.spawn(guest, { stack: 32768 });
  const bad = runtime.spawn(guest);
  const boom = new Error("boom");
  const throws = runtime.spawnNative(() => {
    throw boom;
  });
  const async = runtime.spawnNative(async () => true);
  from(deep, 306, 130);
  from(trap, 308, 3);
  from(bad, 309);
  from(throws, 1);
  from(async, 1);
  await steps(10);
  assert.equal(ended.get(deep).code, "stack-overflow");
  assert.equal(ended.get(trap).code, "trap");
  assert(ended.get(trap).cause instanceof WebAssembly.RuntimeError);
  assert.equal(ended.get(bad).code, "bad-address");
  assert.equal(ended.get(throws).cause, boom);
  assert.equal(ended.get(async).code, "bad-argument");
  assert.equal(runtime.fibers, 0);
});

test("E-LIFE-1 a handler that throws undefined has thrown", async () => {
  const { runtime, ended, from } = await world();
  const module = await compileActor(file("../asyncio/actors/wasm/testdata/plain.wasm"), { imports: { twice: () => Promise.reject() } });
  const throws = () => {
    throw undefined;
  };
  const ids = [runtime.spawn(module, { stack: 32768 }), runtime.spawnNative(throws)];
  for (const id of ids) from(id, 1);
  await runtime.run(() => ended.size === 2);
  for (const id of ids) {
    assert.equal(ended.get(id)?.code, "trap");
    assert("cause" in ended.get(id) && ended.get(id).cause === undefined);
  }
  runtime.close();
});

test("E-LIFE-1 others are not concerned when ended throws: the step, and close, are finished first", async () => {
  const over = [];
  const boom = (id, error) => {
    over.push(id);
    if (error || over.length > 1) throw error ?? new Error(`${id}`);
  };
  const { runtime, answers, from } = await world({ ended: boom });
  const [first, second, third] = Array.from({ length: 3 }, () => runtime.spawn(guest, { stack: 32768 }));
  from(first, 308, 5);
  from(second, 300, 5);
  from(third, 300, 5);
  await assert.rejects(runtime.run(() => false), code("trap"));
  await runtime.run(() => answers.length === 2);
  assert.deepEqual(answers.map(({ source }) => source), [second, third]);
  assert.throws(() => runtime.close(), { message: `${third}` });
  assert.deepEqual(over, [first, third, second, 1]);
  assert.equal(runtime.fibers, 0);
});

// A function with one local writes one word in 16 bytes.
test("E-CLASS-1: a stack overflow is found in every word below the stack", async () => {
  // Writes to the word so many bytes below its stack pointer.
  const module = await compileActor(assemble(`(module
    (memory (export "memory") 1)
    (global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "handle_message") (param $below i32) (param i64 i32 i32) (result i32)
      (global.set $stack (global.get $stack))
      (i32.store (i32.sub (global.get $stack) (local.get $below)) (i32.const 1))
      (i32.const 1)))`));
  const { runtime, ended, steps, from } = await world();
  for (let below = 4; below <= 128; below += 4) {
    const inside = runtime.spawn(module, { stack: 32768 });
    const beyond = runtime.spawn(module, { stack: 32768 });
    from(inside, 32768 - 128 + below);
    from(beyond, 32768 + below);
    await steps(4);
    assert.equal(ended.has(inside), false, `${below}`);
    assert.equal(ended.get(beyond)?.code, "stack-overflow", `${below}`);
    runtime.stop(inside);
  }
  runtime.close();
});

test("E-HOST-1 a function of the program's own that returns a Promise blocks the actor; class none gets -1", async () => {
  const plain = file("../asyncio/actors/wasm/testdata/plain.wasm");
  const module = await compileActor(plain, { imports: { twice: (_, n) => new Promise((resolve) => setTimeout(resolve, 5, 2 * n)) } });
  const direct = await compileActor(plain, { imports: { twice: (_, n) => 2 * n } });
  const composed = await compileActor(plain, { imports: { twice: async (host, n) => (await host.sleepMs(5), 2 * n) } });
  const refused = await compileActor(plain, { imports: { twice: () => Promise.reject(new Error("no")) } });
  const { runtime, answers, ended, from } = await world({ clock: actors.realClock() });
  const want = new Map([
    [runtime.spawn(module, { stack: 32768 }), 42],
    [runtime.spawn(module), -1],
    [runtime.spawn(direct, { stack: 32768 }), 42],
    [runtime.spawn(direct), 42],
    [runtime.spawn(composed, { stack: 32768 }), 42],
  ]);
  const fails = runtime.spawn(refused, { stack: 32768 });
  for (const id of want.keys()) from(id, 21);
  from(fails, 21);
  await runtime.run(() => answers.length === want.size && ended.size === 1);
  for (const { source, type } of answers) assert.equal(type, want.get(source), `actor ${source}`);
  assert.equal(ended.get(fails).cause.message, "no");
  runtime.close();
});

test("E-SLEEP-3 E-FD-2 milliseconds that are no whole number, or too many, are refused instead of cut off", async () => {
  const plain = file("../asyncio/actors/wasm/testdata/plain.wasm");
  const { runtime, ended, from } = await world();
  const odd = [0.5, NaN, Infinity, 2 ** 31, 2 ** 32 + 5, -(2 ** 40), undefined, "5", 5n];
  let n = 0;
  for (const ms of odd) {
    for (const twice of [(host) => host.sleepMs(ms), ...(ms === undefined ? [] : [(host) => host.wait("nothing", new Promise(() => {}), ms)])]) {
      const id = runtime.spawn(await compileActor(plain, { imports: { twice } }), { stack: 32768 });
      from(id, 1);
      await runtime.run(() => ended.size > n);
      assert.equal(ended.get(id)?.code, "bad-argument", `${typeof ms} ${ms}`);
      n++;
    }
  }
  runtime.close();
});

// The test runner takes a rejection that nobody asks for as a failure, and Node ends with it.
test("E-HOST-1 a wait that is refused leaves no rejection behind", async () => {
  const plain = file("../asyncio/actors/wasm/testdata/plain.wasm");
  const { runtime, answers, from } = await world();
  const rejected = () => Promise.reject(new Error("nobody asks"));
  const waits = (host) => host.wait("nothing", rejected());
  from(runtime.spawnNative((host, { source }) => host.send(source, waits(host)) === 0), 1);
  for (const twice of [waits, rejected]) from(runtime.spawn(await compileActor(plain, { imports: { twice } })), 1);
  await runtime.run(() => answers.length === 3);
  for (const { type } of answers) assert.equal(type, -1);
  await new Promise((resolve) => setImmediate(resolve)); // rejections are reported
  runtime.close();
});

test("E-SPAWN-2 stack and payloads come from the guest's allocator where it has one; without room the spawn fails", async () => {
  const { runtime, answers, ended, from, steps } = await world();
  const id = runtime.spawn(await compileActor(file("../asyncio/actors/wasm/testdata/malloc.wasm")), { stack: 65536 });
  from(id, 1, 1, 2, 3);
  from(id, 2, ...new Array(64).fill(0));
  from(id, 2, ...new Array(65).fill(0));
  from(id, 2);
  await steps(20);
  const got = answers.map(({ payload }) => [...new Uint32Array(payload.buffer)]);
  const [first, local] = got[0];
  assert(local + 16 - 65536 - 128 >= 70001 && local + 16 - 65536 - 128 < 70017);
  assert.deepEqual(got, [[first, local, 2, 0], [first, local, 2, 0], [first + 256, local, 3, 1], [0, local, 3, 1]]);

  const grows = await compileActor(file("../asyncio/actors/wasm/testdata/grows.wasm"));
  assert.throws(() => runtime.spawn(grows, { stack: 32768 }), code("no-memory"));
  assert.equal(runtime.fibers, 1);
  const none = runtime.spawn(grows);
  from(none, 1);
  await steps(1);
  assert.equal(ended.size, 0);
  from(none, 1, 2);
  await steps(1);
  assert.equal(ended.get(none).code, "no-memory");
});

test("run sleeps until something outside is ready or sends, and says so when nothing is left to do", async () => {
  let open;
  const { runtime, answers, from } = await world({ clock: actors.realClock(), ready: () => new Promise((resolve) => (open = resolve)) });
  const id = runtime.spawn(guest, { stack: 32768 });
  from(id, 302, 7, 0);
  setTimeout(() => open(), 5);
  await runtime.run(() => answers.length === 1);
  from(id, 301, 4);
  await assert.rejects(runtime.run(() => false), (error) => code("idle")(error) && error.message.includes("2 waits for a message"));
  setTimeout(() => runtime.send(id, 999, "at last"), 5);
  from(runtime.spawn(guest, { stack: 32768 }), 302, 7, 0); // so that there is something to wait for
  await runtime.run(() => answers.length === 2);
  runtime.close();
});

test("E-FD-3 run goes on with what gets ready while a step is under way", async () => {
  let open;
  const clock = { ...actors.realClock(), sleep: () => Promise.reject(new Error("it sleeps")) };
  const { runtime, answers, from } = await world({ clock, ready: () => new Promise((resolve) => (open = resolve)) });
  from(runtime.spawn(guest, { stack: 32768 }), 302, 7, 0);
  await runtime.step();
  from(runtime.spawnNative(() => (open(), true)), 1);
  await runtime.run(() => answers.length === 1);
  runtime.close();
});

test("run is not idle when the condition, or the page in its turn, has sent something", async () => {
  const { runtime } = await world();
  let heard = 0;
  let asked = 0;
  const id = runtime.spawnNative(() => {
    if (heard++ !== 1) return true;
    for (const start = performance.now(); performance.now() - start < 20; ); // longer than run takes before it gives the page a turn
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (port1.close(), runtime.send(id, 3));
    port2.postMessage(0);
    return true;
  });
  const until = (wanted) => () => {
    if (asked++ === 1) runtime.send(id, 1);
    return heard === wanted;
  };
  await runtime.run(until(1));
  runtime.send(id, 2);
  await runtime.run(until(3));
  runtime.close();
});

test("a run, or a step, beside a run is refused, and the run hears of everything", async () => {
  const { runtime, from } = await world({ clock: actors.realClock(), ready: () => new Promise(() => {}) });
  let heard = 0;
  const id = runtime.spawnNative(() => ++heard > 0);
  from(runtime.spawn(guest, { stack: 32768 }), 302, 7, 0); // so that there is something to wait for
  const run = runtime.run(() => heard === 2);
  for (const wanted of [1, 2]) {
    await new Promise((resolve) => setImmediate(resolve)); // it sleeps
    await assert.rejects(runtime.run(() => true), code("in-step"));
    await assert.rejects(runtime.step(), code("in-step"));
    assert.equal(heard, wanted - 1);
    runtime.send(id, 1);
  }
  await run;
  await assert.rejects(runtime.run(() => assert.fail("until")), { message: "until" });
  await runtime.run(() => true);
  await runtime.step();
  runtime.close();
});

test("misuse is refused with a code", async () => {
  await assert.rejects(compileActor(new Uint8Array(8)), { code: "not-wasm" });
  await assert.rejects(compileActor(file("../examples/c-fetch/guest.wasm")), code("bad-module"));
  await assert.rejects(compileActor(file("../asyncio/actors/wasm/testdata/plain.wasm")), code("missing-import"));
  for (const twice of [undefined, null, 5, {}]) await assert.rejects(compileActor(file("../asyncio/actors/wasm/testdata/plain.wasm"), { imports: { twice } }), code("bad-argument"));
  const { runtime, from, steps } = await world();
  const untyped = await compileActor(file("../asyncio/actors/wasm/testdata/untyped.wasm"));
  assert.throws(() => runtime.spawn(untyped, { stack: 32768 }), code("bad-module"));
  for (const stack of [512, -1, 0.5, "32768", NaN]) assert.throws(() => runtime.spawn(guest, { stack }), code("bad-class"));
  for (const room of [0, -1, 0.5, 5 - 2 ** 32]) assert.throws(() => runtime.spawn(guest, { room }), code("bad-mailbox"));
  const id = runtime.spawn(guest, { room: 1 });
  runtime.send(id, 1);
  assert.throws(() => runtime.send(id, 1), code("mailbox-full"));
  for (const to of [0, -1, 99, 2 ** 32 + id, NaN]) assert.throws(() => runtime.send(to, 1), code("no-actor"));
  let host;
  const inside = [];
  const native = runtime.spawnNative((h) => {
    host = h;
    assert.throws(() => runtime.close(), code("in-step"));
    inside.push(runtime.step());
    return true;
  });
  from(native, 1);
  await steps(2);
  await assert.rejects(inside[0], code("in-step"));
  assert.throws(() => host.sleepMs(1), code("not-running"));
  assert.throws(() => host.recv(), code("not-running"));
  runtime.close();
  assert.throws(() => runtime.spawn(guest), code("closed"));
});

// What the demo page runs.
for (const clock of ["real", "virtual"]) {
  for (const stack of [32768, 65536, 131072, 0]) {
    test(`S-SLEEP E-TEST-1 as the page runs it, by the ${clock} clock, class ${stack}`, async () => {
      const { sleepTest } = await import("../web/demo/sleep.ts");
      const said = [];
      const { lines, failures } = await sleepTest(actors, file("../examples/c-actor/guest.wasm"), { clock, stack, say: (line) => said.push(line) });
      assert.deepEqual(failures, []);
      assert.deepEqual(said, lines);
      const heard = lines.filter(({ what }) => what.startsWith("hears") && what.endsWith("W")).map(({ what }) => what);
      assert.deepEqual(heard, [stack === 0 ? `hears "no_fiber" from W` : `hears "slept" from W`, `hears "" from W`]);
      if (clock === "virtual" && stack !== 0) assert.equal(lines.find(({ what }) => what.includes("slept")).at, 52);
    });
  }
}

test("the program in README.md", async () => {
  const [, program] = /```js\n(import { compileActor[^`]*)```/.exec(file("../README.md").toString());
  const AsyncFunction = (async () => {}).constructor;
  const body = program.replace(/import ({.*}) from "fiberfill\/actors";/, "const $1 = actors;") + "return heard;";
  assert.equal(await new AsyncFunction("actors", "bytes", body)(actors, file("../examples/c-actor/guest.wasm")), "slept");
});
