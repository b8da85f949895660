// fiberfill/webassembly: code written for JSPI, run by fibers. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";

const platform = globalThis.WebAssembly;
const before = Object.getOwnPropertyNames(globalThis);
const { WebAssembly } = await import("../../web/dist/npm/esm/webassembly.js");

const bytes = readFileSync(new URL("../../examples/c-fetch/guest.wasm", import.meta.url));
const url = "http://127.0.0.1/item?id=";

/** The C guest, whose requests end when the test says so. */
async function guest() {
  const requests = [];
  let memory;
  const text = (p, n) => new TextDecoder().decode(new Uint8Array(memory.buffer, p, n));
  const fetch_text = new WebAssembly.Suspending((p, n, buffer) => {
    const id = Number(text(p, n).split("=")[1]);
    return new Promise((resolve, reject) => {
      const answer = (body) => {
        new Uint8Array(memory.buffer).set(new TextEncoder().encode(body), buffer);
        resolve(body.length);
      };
      requests.push({ id, reject, answer, value: (value) => answer(JSON.stringify({ id, value })) });
    });
  });
  const { instance } = await WebAssembly.instantiate(bytes, {
    env: { fetch_text, log() {} },
    fiberfill: { yield: new WebAssembly.Suspending(() => {}) },
  });
  memory = instance.exports.memory;
  // With JSPI the page decides where strings lie: here, behind everything that the guest uses.
  const call = (name, id) => {
    const at = 100_000 + 64 * id;
    const length = new TextEncoder().encodeInto(url + id, new Uint8Array(memory.buffer, at, 64)).written;
    return WebAssembly.promising(instance.exports[name])(at, length);
  };
  return { instance, requests, call };
}

test("the classes have the platform's names", () => {
  const { Suspending, SuspendError } = WebAssembly;
  assert.deepEqual([Suspending.name, SuspendError.name], ["Suspending", "SuspendError"]);
});

test("importing touches no global", () => {
  assert.deepEqual(Object.getOwnPropertyNames(globalThis), before);
  assert.equal(globalThis.WebAssembly, platform);
  assert.equal(platform.Module.prototype.constructor, platform.Module);
});

test("overlapping calls that end in any order have separate shadow stacks", async () => {
  const { requests, call } = await guest();
  const calls = [0, 1, 2, 3].map((id) => call("item", id));
  assert.deepEqual(
    requests.map(({ id }) => id),
    [0, 1, 2, 3],
  );
  for (const i of [2, 0, 3, 1]) requests[i].value(100 + i);
  assert.deepEqual(await Promise.all(calls), [100, 101, 102, 103]);
});

test("a promising call starts inside the call, even below another fiber's import, and then returns", async () => {
  const { requests, call } = await guest();
  const outer = call("item", 1);
  assert.equal(requests.length, 1);
  const done = new Promise((resolve) => {
    // Called as a callback while no fiber runs. The second call is nested in a third one's import.
    queueMicrotask(async () => {
      const inner = call("item", 2);
      assert.equal(requests.length, 2);
      requests[1].value(7);
      resolve(await inner);
    });
  });
  assert.equal(await done, 7);
  requests[0].value(8);
  assert.equal(await outer, 8);
});

test("a fiber in whose import another began still has its own stack checked afterwards", async () => {
  const wat = `(module
    (import "env" "wait" (func $wait))
    (import "env" "plain" (func $plain))
    (memory (export "memory") 2)
    (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "inner") (call $wait))
    (func (export "outer")
      (call $plain)
      (i32.store (i32.sub (global.get $sp) (i32.const 65476)) (i32.const 1)) ;; the highest word of its guard
      (call $wait)))`;
  let inner;
  const { instance } = await WebAssembly.instantiate(assemble(wat), {
    env: {
      wait: new WebAssembly.Suspending(async () => {}),
      plain() {
        inner = WebAssembly.promising(instance.exports.inner)();
      },
    },
  });
  await assert.rejects(WebAssembly.promising(instance.exports.outer)(), {
    code: "region-overflow",
    message: /export outer/,
  });
  await inner;
});

test("a call that never waits resolves its Promise", async () => {
  const { instance } = await guest();
  const sum = WebAssembly.promising(instance.exports.add64)(2n ** 40n, 1n);
  assert.ok(sum instanceof Promise);
  assert.equal(await sum, 2n ** 40n + 1n);
});

test("arguments are converted as the platform does, and one that cannot be converted rejects the call", async () => {
  const { instance } = await guest();
  const addf = WebAssembly.promising(instance.exports.addf);
  assert.equal(await addf("1.5", { valueOf: () => 2 }), 3.5);
  assert.ok(Number.isNaN(await addf()));
  await assert.rejects(WebAssembly.promising(instance.exports.add64)(1, 2), TypeError);
});

test("a Suspending import always waits", async () => {
  const { instance } = await guest();
  let after = false;
  const call = WebAssembly.promising(instance.exports.yielding)(1).then(() => assert.ok(after));
  after = true;
  await call;
});

test("when its wait is settled, a call goes on before the event loop has control", async () => {
  const { requests, call } = await guest();
  let before = 0;
  for (let i = 0; i < 20; i++) {
    const item = call("item", i);
    requests.pop().value(i);
    const first = await Promise.race([
      item.then(() => "call"),
      new Promise((resolve) => setImmediate(resolve, "event loop")),
    ]);
    if (first === "call") before++;
    await item;
  }
  // Not every time: after some busy milliseconds the scheduler gives the event loop control.
  assert.ok(before >= 10, `${before} of 20`);
});

test("exceptions and rejections keep their identity, even undefined", async () => {
  const { requests, call } = await guest();
  for (const reason of [undefined, new Error("gone"), "text"]) {
    const result = call("item", 1).then(
      () => assert.fail("it did not reject"),
      (e) => [e],
    );
    requests.pop().reject(reason);
    assert.deepEqual(await result, [reason]);
  }
});

test("a plain call throws SuspendError where the engine cannot suspend", async () => {
  const { instance, requests } = await guest();
  assert.throws(() => instance.exports.item(1024, 5), WebAssembly.SuspendError);
  assert.equal(requests.length, 0);
});

test("a start function that calls a Suspending import throws SuspendError", async () => {
  const guest = assemble('(module (import "env" "wait" (func $wait)) (func $start (call $wait)) (start $start))');
  const wait = new WebAssembly.Suspending(() => assert.fail("called"));
  const ways = (wasm) => [
    () => wasm.instantiate(guest, { env: { wait } }),
    async () => new wasm.Instance(new wasm.Module(guest), { env: { wait } }),
  ];
  const all = hasJSPI ? [platform, WebAssembly] : [WebAssembly];
  for (const way of all.flatMap(ways)) await assert.rejects(way, WebAssembly.SuspendError);
});

test("a trap rejects with the engine's own error, and the others go on", async () => {
  const { instance, requests, call } = await guest();
  const other = call("item", 3);
  await assert.rejects(
    WebAssembly.promising(instance.exports.trap)(),
    (error) => error.constructor === platform.RuntimeError,
  );
  requests[0].value(5);
  assert.equal(await other, 5);
});

test("a trap and an endless recursion after a wait also reject with the engine's own errors", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait))
    (func (export "trap") (call $wait) (unreachable))
    (func $deeper (export "deeper") (call $deeper))
    (func (export "recursion") (call $wait) (call $deeper)))`);
  const { instance } = await WebAssembly.instantiate(guest, { env: { wait: new WebAssembly.Suspending(() => {}) } });
  const { trap, deeper, recursion } = instance.exports;
  await assert.rejects(WebAssembly.promising(trap)(), (error) => error.constructor === platform.RuntimeError);
  for (const fn of [deeper, recursion]) {
    await assert.rejects(
      WebAssembly.promising(fn)(),
      (error) => error.constructor === RangeError && /^Maximum call stack size exceeded\.?$/.test(error.message),
    );
  }
});

test("a call that overruns the shadow stack of the call that it began in costs that call its result", async () => {
  const bytes = assemble(`(module (import "env" "wait" (func $wait)) (import "env" "below" (func $below))
    (memory 2) (global $sp (mut i32) (i32.const 65536))
    (func (export "outer") (param $waits i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 64))))
      (i32.store (local.get $frame) (i32.const 5))
      (call $below)
      (if (local.get $waits) (then (call $wait)))
      (global.set $sp (i32.add (local.get $frame) (i32.const 64)))
      (i32.load (local.get $frame)))
    (func (export "inner") (param $size i32) (local $high i32)
      (global.set $sp (i32.sub (local.tee $high (global.get $sp)) (local.get $size)))
      (memory.fill (global.get $sp) (i32.const 1) (local.get $size))
      (global.set $sp (local.get $high))))`);
  let size, inner;
  const { instance } = await WebAssembly.instantiate(bytes, {
    env: {
      wait: new WebAssembly.Suspending(async () => {}),
      below: () =>
        size &&
        (inner = assert.rejects(WebAssembly.promising(instance.exports.inner)(size), { code: "region-overflow" })),
    },
  });
  const outer = WebAssembly.promising(instance.exports.outer);
  // From now on the outer call has the lower one of two regions.
  assert.deepEqual(await Promise.all([outer(1), outer(1)]), [5, 5]);
  for (const waits of [0, 1]) {
    size = 65536 - 32; // just into the guard between the two
    assert.equal(await outer(waits), 5);
    await inner;
    size = 80000;
    await assert.rejects(outer(waits), { code: "region-overflow", message: /^fiber outer#\d+ lost its shadow stack/ });
    await inner;
  }
});

test("a Promise with a then of its own that calls back at once, or throws, is awaited like any other", async () => {
  const guest = assemble(
    '(module (import "env" "wait" (func $wait (result i32))) (func (export "run") (result i32) (call $wait))' +
      ' (table (export "table") funcref (elem $inner)) (func $inner (result i32) (call $wait)))',
  );
  const thens = [(resolve) => resolve(1), () => assert.fail("called")];
  for (const then of thens) {
    const wait = new WebAssembly.Suspending(() => Object.assign(Promise.resolve(7), { then }));
    const { instance } = await WebAssembly.instantiate(guest, { env: { wait } });
    // What is no export waits on the platform's stacks.
    const others = hasJSPI ? [instance.exports.table.get(0)] : [];
    for (const fn of [instance.exports.run, ...others]) assert.equal(await WebAssembly.promising(fn)(), 7);
  }
});

test("bytes in another window's buffer are accepted", async () => {
  const guest = runInNewContext("bytes => Uint8Array.from(bytes).buffer")(
    assemble('(module (func (export "run") (result i32) (i32.const 7)))'),
  );
  assert.ok(!(guest instanceof ArrayBuffer));
  for (const { exports } of [
    (await WebAssembly.instantiate(guest)).instance,
    new WebAssembly.Instance(new WebAssembly.Module(guest)),
  ]) {
    const call = WebAssembly.promising(exports.run)();
    assert.match(call.name, /^run#/, "it is a fiber");
    assert.equal(await call, 7);
  }
});

test("a call can be cancelled: it is a fiber", async () => {
  const { requests, call } = await guest();
  const fiber = call("item", 1);
  const reason = new Error("no longer wanted");
  fiber.cancel(reason);
  await assert.rejects(fiber, reason);
  assert.equal(fiber.state, "cancelled");
  requests[0].value(1); // nobody waits for it any more
});

test("on the engine's stacks calls at once are bounded, and further ones wait; on ours all begin", async () => {
  const { requests, call } = await guest();
  const calls = Array.from({ length: 4100 }, (_, id) => call("item", id % 100));
  assert.equal(requests.length, hasJSPI ? 4000 : 4100);
  let sum = 0;
  const all = Promise.all(calls.map((c) => c.then((v) => (sum += v))));
  for (let i = 0; i < calls.length;) {
    while (i < requests.length) requests[i++].value(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await all;
  assert.equal(sum, 4100);
});

test("misuse is refused with the platform's errors", () => {
  // The texts are V8's, where fiberfill writes them.
  const refused = (message) => (platform.promising ? TypeError : { name: "TypeError", message });
  for (const odd of [{}, undefined, null])
    assert.throws(() => WebAssembly.promising(odd), refused(/Argument 0 must be a function/));
  assert.throws(() => WebAssembly.promising(() => {}), refused(/Argument 0 must be a WebAssembly exported function/));
  const asm = new Function('"use asm"; function f(n) { n = n | 0; return n | 0; } return f;');
  assert.throws(() => WebAssembly.promising(asm()), TypeError);
  assert.throws(() => new WebAssembly.Suspending({}), TypeError);
  assert.throws(() => WebAssembly.Suspending(() => {}), refused(/must be invoked with 'new'/));
  const { constructor } = new WebAssembly.Suspending(() => {});
  if (!platform.promising) assert.equal(constructor, WebAssembly.Suspending);
  assert.throws(() => new WebAssembly.Module(new Uint8Array([0])), platform.CompileError);
});

test("a Suspending made here works with the platform, and the platform's functions with our promising", async () => {
  const { instance } = await platform.instantiate(bytes, {
    env: { fetch_text: new WebAssembly.Suspending(async () => 0), log() {} },
    fiberfill: { yield: new WebAssembly.Suspending(() => {}) },
  });
  assert.equal(await WebAssembly.promising(instance.exports.yielding)(3), 3);
});

test("a Suspending made elsewhere works as on raw JSPI, beside those made here", async () => {
  const guest = assemble(`(module
    (import "env" "theirs" (func $theirs (param i32) (result i32)))
    (import "env" "ours" (func $ours (param i32) (result i32)))
    (func (export "run") (param i32) (result i32) (call $ours (call $theirs (call $ours (local.get 0))))))`);
  for (const { Suspending } of [platform, runInNewContext("WebAssembly")]) {
    const env = { theirs: new Suspending(async (v) => 2 * v), ours: new WebAssembly.Suspending(async (v) => v + 1) };
    const { instance } = await WebAssembly.instantiate(guest, { env });
    const run = WebAssembly.promising(instance.exports.run);
    assert.deepEqual(await Promise.all([run(1), run(2), run(3)]), [5, 7, 9]);
  }
});

test("a function that is not an export works as on raw JSPI, even below a running fiber", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (param i32) (result i32))) (import "env" "call" (func $call (param i32)))
    (table (export "table") 1 funcref) (elem (i32.const 0) $inner)
    (func $inner (param i32) (result i32) (call $wait (call $wait (call $wait (local.get 0)))))
    (func (export "outer") (param i32) (result i32)
      (call $call (i32.mul (local.get 0) (i32.const 1000)))
      (call $wait (call $wait (call $wait (local.get 0))))))`);
  const { promising, Suspending } = WebAssembly;
  const inner = [];
  const wait = new Suspending((v) => (v % 3 === 0 ? v + 1 : Promise.resolve(v + 1)));
  const call = (v) => inner.push(promising(instance.exports.table.get(0))(v));
  const { instance } = await WebAssembly.instantiate(guest, { env: { wait, call } });
  const outer = promising(instance.exports.outer);
  const ids = Array.from({ length: 50 }, (_, i) => i);
  assert.deepEqual(
    await Promise.all(ids.map((id) => outer(id))),
    ids.map((id) => id + 3),
  );
  assert.deepEqual(
    await Promise.all(inner),
    ids.map((id) => 1000 * id + 3),
  );
  assert.equal(await outer(7), 10); // the scheduler still works
});

test("what promising returns has the same name and length as the platform's", async () => {
  const { instance } = await guest();
  for (const fn of [instance.exports.item, instance.exports.yielding]) {
    const { name, length } = platform.promising(fn);
    assert.deepEqual([WebAssembly.promising(fn).name, WebAssembly.promising(fn).length], [name, length]);
  }
});

test("imports that the platform provides, builtins and strings, work beside those that wait", async () => {
  const text = (imports, body) =>
    assemble(`(module (import "wasm:js-string" "length" (func $length (param externref) (result i32)))
    (import "'" "four" (global $text externref)) ${imports}
    (global $sp (mut i32) (i32.const 65536))
    (func (export "f") (param $v i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
      (i32.store (local.get $frame) (local.get $v))
      ${body}
      (local.set $v (i32.add (i32.load (local.get $frame)) (call $length (global.get $text))))
      (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
      (local.get $v)))`);
  const options = { builtins: ["js-string"], importedStringConstants: "'" };
  const waits = text(
    '(import "env" "memory" (memory 2)) (import "env" "wait" (func $wait (param i32)))',
    "(call $wait (local.get $v))",
  );
  const response = () => new Response(waits, { headers: { "content-type": "application/wasm" } });
  const made = [
    async (imports) => new WebAssembly.Instance(new WebAssembly.Module(waits, options), imports),
    async (imports) => WebAssembly.instantiate(await WebAssembly.compile(waits, options), imports),
    async (imports) => (await WebAssembly.instantiate(waits, imports, options)).instance,
    async (imports) => (await WebAssembly.instantiateStreaming(response(), imports, options)).instance,
  ];
  for (const make of made) {
    const ends = [];
    const wait = new WebAssembly.Suspending((v) => new Promise((end) => (ends[v] = end)));
    const { exports } = await make({ env: { memory: new WebAssembly.Memory({ initial: 2 }), wait } });
    const f = WebAssembly.promising(exports.f);
    const calls = [f(0), f(1)];
    ends[0]();
    assert.equal(await calls[0], 4);
    calls.push(f(2), f(3)); // where the first one was, and below it
    for (const n of [3, 2, 1]) ends[n]();
    assert.deepEqual(await Promise.all(calls), [4, 5, 6, 7]);
  }
  // There is no stack to give.
  const { instance } = await WebAssembly.instantiate(text("(memory 2)", ""), undefined, options);
  assert.ok(WebAssembly.promising(instance.exports.f)(1) instanceof Promise);
});

test("exports that fiberfill adds to a guest for itself are hidden", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (param i32) (result i32))) (memory 1)
    (global $__stack_pointer (mut i32) (i32.const 65536))
    (func (export "fiberfill:run") (export "__proto__") (param i32) (result i32) (local $frame i32)
      (global.set $__stack_pointer (local.tee $frame (i32.sub (global.get $__stack_pointer) (i32.const 16))))
      (i32.store (local.get $frame) (local.get 0)) (drop (call $wait (i32.const 0)))
      (global.set $__stack_pointer (i32.add (local.get $frame) (i32.const 16)))
      (i32.load (local.get $frame)))
    (global (export "fiberfill:count") (mut i32) (i32.const 7)))`);
  const list = (wasm) => platform.Module.exports(new wasm.Module(guest)).length;
  assert.equal(list(WebAssembly), list(platform) + 2, "the module is edited");
  const shown = (wasm, { exports, ...rest }, module) => {
    const kinds = Object.entries(exports).map(([name, value]) => [name, typeof value]);
    return [
      wasm.Module.exports(module),
      kinds,
      Object.getPrototypeOf(exports),
      Object.isFrozen(exports),
      exports["fiberfill:count"].value,
      rest,
    ];
  };
  const theirs = new platform.Module(guest);
  const want = shown(platform, new platform.Instance(theirs, { env: { wait() {} } }), theirs);
  // With an import that may wait, with none, and with one made elsewhere, below which there is one stack.
  for (const [wait, ids] of [
    [new WebAssembly.Suspending(async () => 0), [1, 2]],
    [() => 0, [1]],
    [new platform.Suspending(async () => 0), [1]],
  ]) {
    const { module, instance } = await WebAssembly.instantiate(guest, { env: { wait } });
    for (const i of [instance, new WebAssembly.Instance(module, { env: { wait } })]) {
      assert.deepEqual(shown(WebAssembly, i, module), want);
      assert.equal(i.exports, i.exports);
      assert.equal(i.exports["fiberfill:run"], i.exports["__proto__"]);
      assert.ok(i instanceof WebAssembly.Instance);
      const run = WebAssembly.promising(i.exports["fiberfill:run"]);
      assert.deepEqual(await Promise.all(ids.map((id) => run(id))), ids);
    }
  }
  assert.throws(() => WebAssembly.Module.exports({}), TypeError);
  assert.deepEqual([WebAssembly.Module.exports.name, WebAssembly.Module.exports.length], ["exports", 1]);
});

test("the namespace and Suspending look like the platform's", () => {
  assert.deepEqual(Object.getOwnPropertyNames(WebAssembly), Object.getOwnPropertyNames(platform));
  for (const [key, { writable, enumerable, configurable, value }] of Object.entries(
    Object.getOwnPropertyDescriptors(platform),
  )) {
    const ours = Object.getOwnPropertyDescriptor(WebAssembly, key);
    assert.deepEqual(
      [ours.writable, ours.enumerable, ours.configurable, typeof ours.value],
      [writable, enumerable, configurable, typeof value],
      key,
    );
    if (typeof value === "function") assert.deepEqual([ours.value.name, ours.value.length], [value.name, value.length]);
  }
  assert.equal(Object.getPrototypeOf(WebAssembly.Suspending), Function.prototype);
  assert.ok(new platform.Suspending(() => {}) instanceof WebAssembly.Suspending);
});

test("fiberfill/polyfill installs the namespace on the global", () => {
  const script = `
    const platform = globalThis.WebAssembly;
    await import(${JSON.stringify(new URL("../../web/dist/npm/esm/polyfill.js", import.meta.url).href)});
    if (WebAssembly === platform || WebAssembly.Module.prototype.constructor !== WebAssembly.Module)
      throw new Error("not installed");
    console.log(Object.prototype.toString.call(WebAssembly), typeof WebAssembly.promising);`;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  assert.equal(out, "[object WebAssembly] function\n");
});

test("with fiberfill/polyfill installed, guests of the global and of fiberfill run, with own fibers or without", () => {
  const href = (path) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { readFileSync } from "node:fs";
    import ${href("../../web/dist/npm/esm/polyfill.js")};
    import { instantiate } from ${href("../../web/dist/npm/esm/index.js")};
    const read = (path) => readFileSync(new URL(path, ${href("../../examples/")}));
    const imports = { env: { fetch_text() {}, log() {} }, fiberfill: { yield: new WebAssembly.Suspending(() => {}) } };
    const { instance } = await WebAssembly.instantiate(read("c-fetch/guest.wasm"), imports);
    const yielding = WebAssembly.promising(instance.exports.yielding);
    const fibers = await instantiate(read("c-fetch/guest.wasm"), { env: imports.env });
    const generators = await instantiate(read("c-generator/guest.wasm"));
    const calls = [yielding(3), yielding(4), fibers.exports.yielding(5), generators.exports.sum(10)];
    console.log(String(await Promise.all(calls)));`;
  assert.equal(
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }),
    "3,4,5,385\n",
  );
});

test("a module whose imports have types of the collector's is instantiated, though Bun 1.2 does not list them", () => {
  const bytes = assemble(
    '(module (type $s (struct)) (import "env" "take" (func (param (ref null $s)))) (func (export "run")))',
  );
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { take() {} } });
  assert.equal(exports.run(), undefined);
});

test("calls that begin inside each other without end overflow the stack, and later calls are right", async () => {
  const bytes = assemble(`(module
    (import "env" "again" (func $again (param i32) (result i32)))
    (import "env" "wait" (func $wait (param i32) (result i32)))
    (func (export "recurse") (param i32) (result i32) (call $again (local.get 0)))
    (func (export "wait") (param i32) (result i32) (call $wait (local.get 0))))`);
  let deepest = 0;
  const errors = [];
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    env: {
      again(n) {
        deepest = Math.max(deepest, n);
        try {
          recurse(n + 1).catch((error) => errors.push(error));
        } catch (error) {
          errors.push(error);
        }
        return n;
      },
      wait: new WebAssembly.Suspending(async (n) => n + 1),
    },
  });
  const recurse = WebAssembly.promising(exports.recurse);
  const wait = WebAssembly.promising(exports.wait);
  for (let round = 0; round < 2; round++) {
    assert.equal(await recurse(0), 0);
    assert.equal(await wait(41), 42);
  }
  assert.ok(deepest > 100, `${deepest} calls inside each other`);
  assert.ok(errors.length > 0);
  for (const error of errors) assert.match(error.name, /RangeError|InternalError/);
});
