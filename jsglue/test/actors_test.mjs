// fiberfill/actors: the scenarios, messages, run, and what is refused. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { test } from "node:test";
import { play, scenarios } from "./actors_player.mjs";

// Firefox lists a global elsewhere when it has been used.
const globals = () => Object.getOwnPropertyNames(globalThis).sort();
const before = globals();
const { actors, code, file, guest, world } = await import("./actors_world.mjs");
const { compileActor } = actors;

test("importing touches no global", () => assert.deepEqual(globals(), before));

// The same scenarios, with the same outcomes, as in Go on wazero: asyncio/actors/wasm.
const all = scenarios(file("../../examples/c-actor/scenarios.txt").toString());
assert(all.length > 20);
for (const { title, script } of all) {
  test(title, async () => assert.equal(await play(actors, guest, script), script));
}

test("S-SLEEP by the real clock: in order, and not before the deadline", async () => {
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
  assert(performance.now() >= start + 50); // their difference is rounded, and may be less than 50
  assert.deepEqual(text(), ["pong", "slept"]);
  from(sleeper, 200);
  await runtime.run(() => answers.length === 3);
  runtime.close();
});

test("S-SLEEP by the virtual clock: run skips the time in which nothing happens", async () => {
  const { runtime, clock, answers, from, text } = await world();
  const sleeper = runtime.spawn(guest, { stack: 32768 });
  from(sleeper, 300, 3_600_000);
  from(sleeper, 204);
  await runtime.run(() => answers.length === 2);
  assert.equal(clock.now(), 3_600_050);
  assert.equal(text()[1], "slept");
});

test("E-MSG-1 a mailbox with 100,000 messages is emptied in order, and taking one out is quick", async () => {
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

test("E-MSG-1 an invalid message is refused, and leaves nothing in the mailbox", async () => {
  const { runtime, ended } = await world();
  const heard = [];
  const id = runtime.spawnNative(
    (host, { type, payload }) => {
      heard.push([type, payload.length]);
      if (type === 2) assert.throws(() => host.send(host.self, 1, 5), code("bad-argument"));
      return true;
    },
    { room: 2 },
  );
  for (const payload of [5, null, {}, [1], new ArrayBuffer(3), new Uint16Array(2), true])
    assert.throws(() => runtime.send(id, 1, payload), code("bad-argument"));
  for (const type of [undefined, null, "1", 1.5, NaN, 1n, {}, 2 ** 32, -(2 ** 31) - 1])
    assert.throws(() => runtime.send(id, type), code("bad-argument"));
  const detached = new Uint8Array(3);
  detached.buffer.transfer();
  assert.throws(() => runtime.send(id, 1, detached), TypeError);
  assert.equal(runtime.info(id).mailbox, 0);
  runtime.send(id, 2, new Uint8Array(0));
  runtime.send(id, 2 ** 32 - 3, "four");
  await runtime.run(() => heard.length === 2);
  assert.deepEqual(heard, [
    [2, 0],
    [-3, 4],
  ]);
  await assert.rejects(runtime.run(true), code("bad-argument"));
  for (const module of [undefined, null, 5, {}, guest.module])
    assert.throws(() => runtime.spawn(module), code("bad-argument"));
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

test("E-LIFE-2 a value that is not an actor's number stops no actor", async () => {
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

test("E-LIFE-1 a handler that throws undefined has thrown", async () => {
  const { runtime, ended, from } = await world();
  const module = await compileActor(file("../../asyncio/actors/wasm/testdata/plain.wasm"), {
    imports: { twice: () => Promise.reject() },
  });
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

test("E-LIFE-1 when ended throws, the step or close is finished first", async () => {
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
  await assert.rejects(
    runtime.run(() => false),
    code("trap"),
  );
  await runtime.run(() => answers.length === 2);
  assert.deepEqual(
    answers.map(({ source }) => source),
    [second, third],
  );
  assert.throws(() => runtime.close(), { message: `${third}` });
  assert.deepEqual(over, [first, third, second, 1]);
  assert.equal(runtime.fibers, 0);
});

test("E-SLEEP-3 E-FD-2 a fraction of a millisecond, or too many of them, is refused and not truncated", async () => {
  const plain = file("../../asyncio/actors/wasm/testdata/plain.wasm");
  const { runtime, ended, from } = await world();
  const odd = [0.5, NaN, Infinity, 2 ** 31, 2 ** 32 + 5, -(2 ** 40), undefined, "5", 5n];
  let n = 0;
  for (const ms of odd) {
    for (const twice of [
      (host) => host.sleepMs(ms),
      ...(ms === undefined ? [] : [(host) => host.wait("nothing", new Promise(() => {}), ms)]),
    ]) {
      const id = runtime.spawn(await compileActor(plain, { imports: { twice } }), { stack: 32768 });
      from(id, 1);
      await runtime.run(() => ended.size > n);
      assert.equal(ended.get(id)?.code, "bad-argument", `${typeof ms} ${ms}`);
      n++;
    }
  }
  runtime.close();
});

test("run sleeps until something outside is ready or sends, and says so when nothing is left to do", async () => {
  let open;
  const { runtime, answers, from } = await world({
    clock: actors.realClock(),
    ready: () => new Promise((resolve) => (open = resolve)),
  });
  const id = runtime.spawn(guest, { stack: 32768 });
  from(id, 302, 7, 0);
  setTimeout(() => open(), 5);
  await runtime.run(() => answers.length === 1);
  from(id, 301, 4);
  await assert.rejects(
    runtime.run(() => false),
    (error) => code("idle")(error) && error.message.includes("2 waits for a message"),
  );
  setTimeout(() => runtime.send(id, 999, "at last"), 5);
  from(runtime.spawn(guest, { stack: 32768 }), 302, 7, 0); // so that there is something to wait for
  await runtime.run(() => answers.length === 2);
  runtime.close();
});

test("E-FD-3 run goes on when something becomes ready during a step", async () => {
  let open;
  const clock = { ...actors.realClock(), sleep: () => Promise.reject(new Error("it sleeps")) };
  const { runtime, answers, from } = await world({ clock, ready: () => new Promise((resolve) => (open = resolve)) });
  from(runtime.spawn(guest, { stack: 32768 }), 302, 7, 0);
  await runtime.step();
  from(
    runtime.spawnNative(() => (open(), true)),
    1,
  );
  await runtime.run(() => answers.length === 1);
  runtime.close();
});

test("run is not idle if the condition, or the page in its turn, sent something", async () => {
  const { runtime } = await world();
  let heard = 0;
  let asked = 0;
  const id = runtime.spawnNative(() => {
    if (heard++ !== 1) return true;
    // Longer than run works before it gives the page a turn.
    for (const start = performance.now(); performance.now() - start < 20;);
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

test("a second run, or a step, during a run is refused, and the run misses nothing", async () => {
  const { runtime, from } = await world({ clock: actors.realClock(), ready: () => new Promise(() => {}) });
  let heard = 0;
  const id = runtime.spawnNative(() => ++heard > 0);
  from(runtime.spawn(guest, { stack: 32768 }), 302, 7, 0); // so that there is something to wait for
  const run = runtime.run(() => heard === 2);
  for (const wanted of [1, 2]) {
    await new Promise((resolve) => setImmediate(resolve)); // now it sleeps
    await assert.rejects(
      runtime.run(() => true),
      code("in-step"),
    );
    await assert.rejects(runtime.step(), code("in-step"));
    assert.equal(heard, wanted - 1);
    runtime.send(id, 1);
  }
  await run;
  await assert.rejects(
    runtime.run(() => assert.fail("until")),
    { message: "until" },
  );
  await runtime.run(() => true);
  await runtime.step();
  runtime.close();
});

test("misuse is refused with a code", async () => {
  await assert.rejects(compileActor(new Uint8Array(8)), { code: "not-wasm" });
  await assert.rejects(compileActor(file("../../examples/c-fetch/guest.wasm")), code("bad-module"));
  await assert.rejects(compileActor(file("../../asyncio/actors/wasm/testdata/plain.wasm")), code("missing-import"));
  for (const twice of [undefined, null, 5, {}])
    await assert.rejects(
      compileActor(file("../../asyncio/actors/wasm/testdata/plain.wasm"), { imports: { twice } }),
      code("bad-argument"),
    );
  const { runtime, from, steps } = await world();
  const untyped = await compileActor(file("../../asyncio/actors/wasm/testdata/untyped.wasm"));
  assert.throws(() => runtime.spawn(untyped, { stack: 32768 }), code("bad-module"));
  for (const stack of [512, -1, 0.5, "32768", NaN])
    assert.throws(() => runtime.spawn(guest, { stack }), code("bad-class"));
  for (const room of [0, -1, 0.5, 5 - 2 ** 32])
    assert.throws(() => runtime.spawn(guest, { room }), code("bad-mailbox"));
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

test("the program in docs/actors.md", async () => {
  const [, program] = /```js\n(import { compileActor[^`]*)```/.exec(file("../../docs/actors.md").toString());
  const AsyncFunction = (async () => {}).constructor;
  const body = program.replace(/import ({.*}) from "fiberfill\/actors";/, "const $1 = actors;") + "return heard;";
  const fetch = async (path) => new Response(file(`../..${path}`));
  assert.equal(await new AsyncFunction("actors", "fetch", body)(actors, fetch), "slept");
});
