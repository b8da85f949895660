// fiberfill/actors: actors in wasm, their stacks and how they end. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { actors, code, file, guest, world } from "./actors_world.mjs";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";

const { compileActor } = actors;

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

test("E-SPAWN-1 a handler of another type is refused at the spawn, whatever the class", async () => {
  const { runtime } = await world();
  for (const type of ["", "(param i32 i32 i32 i32) (result i32)", "(param i32 i64 i32 i32) (result i64)"]) {
    const module = await compileActor(assemble(`(module (func (export "handle_message") ${type} (unreachable)))`));
    for (const stack of [0, 32768, 0])
      assert.throws(() => runtime.spawn(module, { stack }), code("bad-module"), `${type} ${stack}`);
  }
  assert.equal(runtime.fibers, 0);
  runtime.close();
});

test("E-LIFE-2 a guest that is stopped while blocked runs no more code, and its wait's signal aborts", async () => {
  let signal;
  const { runtime, answers, ended, from, steps } = await world({
    ready: (fd, write, s) => ((signal = s), new Promise(() => {})),
  });
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
  const bytes = file("../../asyncio/actors/wasm/testdata/stubborn.wasm");
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

// Engines do not free a stack that is merely forgotten: Node ends with some 32,000.
test("E-SPAWN-2 E-LIFE-2 stacks are freed when actors end, and when they are stopped blocked or idle", async () => {
  const { runtime, from } = await world();
  // With some 32,000 stacks of JSPI Node would have ended. On stacks of fiberfill's own to spawn takes longer.
  for (let i = 0; i < (hasJSPI ? 36_000 : 3_000); i++) {
    const id = runtime.spawn(guest, { stack: 32768 });
    if (i % 3 < 2) from(id, [204, 307][i % 3]);
    await runtime.step();
    if (i % 3 !== 1) assert(runtime.stop(id));
    if (i % 1000 === 0) await new Promise((resolve) => setTimeout(resolve)); // the engine's turn
  }
  assert.equal(runtime.fibers, 0);
});

test("E-LIFE-1 the runtime reports how actors end, and traps carry the reason", async () => {
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

// A function with one local writes one word in 16 bytes.
test("E-CLASS-1: a stack overflow is found in every word below the stack", async () => {
  // Writes to the word `n` bytes below its stack pointer.
  const module = await compileActor(
    assemble(`(module
    (memory (export "memory") 1)
    (global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "handle_message") (param $below i32) (param i64 i32 i32) (result i32)
      (global.set $stack (global.get $stack))
      (i32.store (i32.sub (global.get $stack) (local.get $below)) (i32.const 1))
      (i32.const 1)))`),
  );
  const { runtime, ended, steps, from } = await world();
  for (let below = 4; below <= 64; below += 4) {
    const inside = runtime.spawn(module, { stack: 32768 });
    const beyond = runtime.spawn(module, { stack: 32768 });
    from(inside, 32768 - 64 + below);
    from(beyond, 32768 + below);
    await steps(4);
    assert.equal(ended.has(inside), false, `${below}`);
    assert.equal(ended.get(beyond)?.code, "stack-overflow", `${below}`);
    runtime.stop(inside);
  }
  runtime.close();
});

test("E-HOST-1 an import that returns a Promise blocks the actor; an actor without a stack gets -1", async () => {
  const plain = file("../../asyncio/actors/wasm/testdata/plain.wasm");
  const module = await compileActor(plain, {
    imports: { twice: (_, n) => new Promise((resolve) => setTimeout(resolve, 5, 2 * n)) },
  });
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

// The test runner counts an unhandled rejection as a failure, and Node ends with it.
test("E-HOST-1 a wait that is refused leaves no rejection behind", async () => {
  const plain = file("../../asyncio/actors/wasm/testdata/plain.wasm");
  const { runtime, answers, from } = await world();
  const rejected = () => Promise.reject(new Error("nobody asks"));
  const waits = (host) => host.wait("nothing", rejected());
  from(
    runtime.spawnNative((host, { source }) => host.send(source, waits(host)) === 0),
    1,
  );
  for (const twice of [waits, rejected]) from(runtime.spawn(await compileActor(plain, { imports: { twice } })), 1);
  await runtime.run(() => answers.length === 3);
  for (const { type } of answers) assert.equal(type, -1);
  await new Promise((resolve) => setImmediate(resolve)); // unhandled rejections are reported now
  runtime.close();
});

test("E-SPAWN-2 stack and payloads come from the guest's allocator if any; with no room spawn fails", async () => {
  const { runtime, answers, ended, from, steps } = await world();
  const id = runtime.spawn(await compileActor(file("../../asyncio/actors/wasm/testdata/malloc.wasm")), {
    stack: 65536,
  });
  from(id, 1, 1, 2, 3);
  from(id, 2, ...new Array(64).fill(0));
  from(id, 2, ...new Array(65).fill(0));
  from(id, 2);
  await steps(20);
  const got = answers.map(({ payload }) => [...new Uint32Array(payload.buffer)]);
  const [first, local] = got[0];
  assert(local + 16 - 65536 - 64 >= 70001 && local + 16 - 65536 - 64 < 70017);
  assert.deepEqual(got, [
    [first, local, 2, 0],
    [first, local, 2, 0],
    [first + 256, local, 3, 1],
    [0, local, 3, 1],
  ]);

  const grows = await compileActor(file("../../asyncio/actors/wasm/testdata/grows.wasm"));
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

// What the demo page runs. It comes last, since its clock is the real one, and the first run of any code takes long.
for (const clock of ["real", "virtual"]) {
  for (const stack of [32768, 65536, 131072, 0]) {
    test(`S-SLEEP E-TEST-1 as the page runs it, by the ${clock} clock, class ${stack}`, async () => {
      const { sleepTest } = await import("../../web/demo/sleep.ts");
      const said = [];
      const { lines, failures } = await sleepTest(actors, file("../../examples/c-actor/guest.wasm"), {
        clock,
        stack,
        say: (line) => said.push(line),
      });
      assert.deepEqual(failures, []);
      assert.deepEqual(said, lines);
      const heard = lines.filter(({ what }) => what.startsWith("hears") && what.endsWith("W")).map(({ what }) => what);
      assert.deepEqual(heard, [stack === 0 ? `hears "no_fiber" from W` : `hears "slept" from W`, `hears "" from W`]);
      if (clock === "virtual" && stack !== 0) assert.equal(lines.find(({ what }) => what.includes("slept")).at, 52);
    });
  }
}
