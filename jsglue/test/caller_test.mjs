// Who awaits a fiber, in the stack of an error that ends it (src/turn/caller.ts). Run over web/dist/npm, in V8.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

/** A guest whose import does for v what `how` has under v; returns its exports. */
async function guest(how, options) {
  const text = `(module (import "env" "wait" (func $wait (param i32)))
    (func (export "title") (param i32) (call $wait (local.get 0)))
    (func (export "breaks") (param i32) (call $wait (local.get 0)) (unreachable)))`;
  const wait = fiberfill.suspending(async (v) => (await null, how(v)));
  return (await fiberfill.instantiate(assemble(text), { env: { wait } }, options)).exports;
}

/** The lines of an error's stack from the first that names a fiber. */
function callers({ stack }) {
  const lines = stack.split("\n").map((line) => line.trim().replace(/^at async /, ""));
  return lines
    .slice(lines.findIndex((line) => / \(fiber .*\)$/.test(line)))
    .map((line) => line.replace(/ \(file:.*\/(caller_test\.mjs):\d+:\d+\)$/, " in $1"));
}

for (const stacks of ["jspi", "unwind"]) {
  test(`${stacks}: J-EXP-5: promises settle in the order in which fibers end, however they end`, async () => {
    const gates = [];
    const { title } = await guest((i) => new Promise((resolve, reject) => (gates[i] = { resolve, reject })), {
      stacks,
    });
    const names = ["a", "fails", "b", "cancelled", "fails, too", "c", "d"];
    const settled = [];
    const fibers = names.map((name, i) => title.with({ name })(i));
    const settlements = fibers.map((fiber) => {
      const end = () => settled.push(fiber.name);
      return fiber.then(end, end);
    });
    while (gates.length < names.length) await new Promise(setImmediate);
    for (const [i, name] of names.entries()) {
      if (name === "cancelled") fibers[i].cancel();
      else if (name.startsWith("fails")) gates[i].reject(new Error("no"));
      else gates[i].resolve();
    }
    const ended = [];
    const stop = fiberfill.observe(({ name, state }) => /done|failed|cancelled/.test(state) && ended.push(name));
    await Promise.all(settlements);
    stop();
    assert.deepEqual(settled, ended);
    assert.equal(ended.length, names.length);
    assert.notEqual(ended.at(-1), "fails, too", "one that fails is not the last");
  });

  test(`${stacks}: an error names the fiber, its export, and the lines that wait for it`, async () => {
    const boom = new TypeError("no such title");
    const { title, breaks } = await guest((v) => v && Promise.reject(boom), { stacks });
    async function loads(fiber) {
      return await fiber;
    }
    async function page(fiber) {
      await loads(fiber);
    }
    const failed = await page(title.with({ name: "first" })(1)).catch((error) => error);
    assert.equal(failed, boom, "the same object");
    assert.match(failed.stack, /^TypeError: no such title\n/);
    assert.deepEqual(callers(failed).slice(0, 3), [
      "title (fiber first)",
      "loads in caller_test.mjs",
      "page in caller_test.mjs",
    ]);
    const trap = await page(Promise.all([breaks.with({ name: "second" })(0)])).catch((error) => error);
    assert.equal(trap.code, "trap");
    assert.deepEqual(callers(trap).slice(0, 4), [
      "breaks (fiber second)",
      "Promise.all (index 0)",
      "loads in caller_test.mjs",
      "page in caller_test.mjs",
    ]);
  });
}

test("the stack of a trap has the guest's frames in the place of fiberfill's", async () => {
  for (const stacks of ["jspi", "unwind"]) {
    const { breaks } = await guest(() => {}, { stacks });
    const trap = await (async () => await breaks(0))().catch((error) => error);
    const [head, first, ...rest] = trap.stack.split("\n");
    assert.equal(head, `FiberError: ${trap.message}`);
    assert.match(first, /wasm-function/);
    assert.equal(first, trap.cause.stack.split("\n")[1]);
    assert.ok(!rest.some((line) => line.includes("trapError")), trap.stack);
  }
});

// DevTools run no getter: they would show an error that nobody catches without its stack.
test("on the engine's stacks, an error's stack is completed before anybody reads it", async () => {
  const { title, breaks } = await guest((v) => v && Promise.reject(new Error("boom")), { stacks: "jspi" });
  for (const call of [() => title(1), () => breaks(0)]) {
    const error = await (async () => await call())().catch((error) => error);
    const engine = Object.getOwnPropertyDescriptor(error, "stack");
    assert.equal(typeof engine.value, "string");
    assert.match(engine.value, /\(fiber \w+#\d+\)/);
  }
});

test("an error that ends many fibers has the lines of ten, and so many calls cost no more", async () => {
  const boom = new Error("boom");
  const { title } = await guest(() => Promise.reject(boom));
  const one = async () => await title(1);
  const ends = await Promise.allSettled(Array.from({ length: 30 }, one));
  assert.ok(ends.every(({ reason }) => reason === boom));
  assert.equal(callers(boom).filter((line) => line.startsWith("title (fiber ")).length, 10);
});

test("through arenas, an error has its fiber, and the lines that wait for the arena", async () => {
  const { title } = await guest((v) => v && Promise.reject(new Error(`boom ${v}`)));
  const { all, arena, race } = fiberfill;
  const ways = {
    all: () => all([title(0), title(1)]),
    race: () => race([title(1), title(0)]),
    arena: () => arena(async (a) => void (await a.go(title(1)))),
    nested: () => all([all([title(1)])]),
  };
  for (const [way, open] of Object.entries(ways)) {
    async function waits() {
      return await open();
    }
    const { stack } = await waits().catch((error) => error);
    assert.match(stack, /^Error: boom 1\n[^]*\n {4}at async title \(fiber title#\d+\)\n[^]*at async waits \(/, way);
  }
});

test("an error that ends a fiber nobody awaits names the fiber", async () => {
  const { title } = await guest(() => Promise.reject(new Error("alone")));
  const { stack } = await new Promise((resolve) => title.with({ name: "lone" })(1).then(undefined, resolve));
  assert.match(stack, /\n {4}at async title \(fiber lone\)$/);
});

for (const stacks of ["jspi", "unwind"]) {
  test(`${stacks}: what cannot be completed stays as it is: frozen errors, values`, async () => {
    const frozen = Object.freeze(new Error("frozen"));
    const hostile = new Proxy(new Error("hostile"), {
      defineProperty() {
        throw new Error("mine");
      },
    });
    const thrown = [frozen, hostile, "a text", undefined];
    const { title } = await guest((v) => Promise.reject(thrown[v]), { stacks });
    for (const [v, error] of thrown.entries()) {
      const ended = await new Promise((resolve) => title(v).then(undefined, resolve));
      assert.equal(ended, error);
    }
    assert.ok(!frozen.stack.includes("at async title"));
  });
}

test("a fiber that was cancelled rejects with the reason as it was", async () => {
  const reason = new Error("enough");
  const { stack } = reason;
  const { title } = await guest(() => new Promise(() => {}));
  const fiber = title(1);
  await new Promise(setImmediate);
  fiber.cancel(reason);
  await assert.rejects(async () => await fiber, reason);
  assert.equal(reason.stack, stack);
});

test("an error of instantiate has the lines that await it", async () => {
  const lacking = assemble(`(module (import "env" "wait" (func)))`);
  const response = () => new Response(lacking, { headers: { "content-type": "application/wasm" } });
  for (const start of [() => fiberfill.instantiate(lacking), () => fiberfill.instantiateStreaming(response())]) {
    const page = async () => await start();
    const { code, stack } = await page().catch((error) => error);
    assert.equal(code, "missing-import");
    assert.match(stack, /^ +at async page \(.*caller_test\.mjs/m);
  }
});
