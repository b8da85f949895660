// Bad input that no toolchain writes and no careful caller passes. Each either gets a clear error or works, and none
// harms anybody else. Run over web/dist/npm in Node 26. (What a page meets is in e2e/testdata/pages/bad.js.)

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { escaped } from "./waiting_guest.mjs";

const plusOne = assemble(`(module (import "env" "wait" (func $wait (param i32) (result i32)))
  (func (export "f") (param i32) (result i32) (call $wait (local.get 0))))`);
const env = { env: { wait: fiberfill.suspending(async (v) => v + 1) } };

/** An object with one property, whatever its name. */
const holding = (name, value) => Object.defineProperty({}, name, { value, enumerable: true });

test("imports and exports may be called __proto__, and change no prototype", async () => {
  const guest =
    assemble(`(module (import "__proto__" "__proto__" (func $a (result i32))) (import "__proto__" "hello" (func))
    (func (export "__proto__") (result i32) (call $a)))`);
  const given = Object.defineProperty(
    holding(
      "__proto__",
      fiberfill.suspending(async () => 3),
    ),
    "hello",
    { value() {} },
  );
  const { exports } = await fiberfill.instantiate(guest, holding("__proto__", given));
  assert.equal({}.hello, undefined);
  assert.deepEqual(Object.keys(exports), ["__proto__"]);
  assert.equal(await exports["__proto__"](), 3);
});

test("a property of Object.prototype is neither an export of the guest nor an import of ours", async () => {
  const { exports } = await fiberfill.instantiate(plusOne, env);
  assert.equal("toString" in exports, false);
  assert.throws(() => exports.toString, { code: "unknown-export" });
  await assert.rejects(fiberfill.instantiate(assemble(`(module (import "fiberfill" "toString" (func)))`)), {
    code: "missing-import",
  });
});

test("an imported global may be undefined, and is missing only if the import object lacks it", async () => {
  const guest = assemble(
    `(module (import "env" "global" (global $g externref)) (func (export "get") (result externref) (global.get $g)))`,
  );
  const inherited = Object.create({ global: undefined });
  for (const env of [{ global: undefined }, inherited, Object.assign(() => {}, { global: undefined })]) {
    const { exports } = await fiberfill.instantiate(guest, { env });
    assert.equal(await exports.get(), undefined);
  }
  for (const env of [undefined, null, 7, "text", {}])
    await assert.rejects(fiberfill.instantiate(guest, { env }), {
      code: "missing-import",
      message: /env\.global \(global\)/,
    });
  await assert.rejects(fiberfill.instantiate(plusOne, { env: { wait: undefined } }), {
    code: "missing-import",
    message: /env\.wait \(function\)/,
  });
});

test("a guest may itself export the names that fiberfill adds to others", async () => {
  const guest = assemble(`(module (import "env" "wait" (func $wait (param i32) (result i32))) (memory 1)
    (global $sp (mut i32) (i32.const 65536)) (global $mine (export "fiberfill:memory") i32 (i32.const 7))
    (func (export "fiberfill:stack_pointer") (param i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
      (i32.store (local.get $frame) (local.get 0))
      (drop (call $wait (local.get 0)))
      (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
      (i32.load (local.get $frame)))
    (export "fiberfill:memory1" (func 1)))`);
  const { exports } = await fiberfill.instantiate(guest, env);
  assert.deepEqual(Object.keys(exports).sort(), ["fiberfill:memory", "fiberfill:memory1", "fiberfill:stack_pointer"]);
  assert.equal(exports["fiberfill:memory"].value, 7);
  const f = exports["fiberfill:stack_pointer"];
  assert.deepEqual(await Promise.all([f(1), f(2), f(3)]), [1, 2, 3], "each has its own stack");
});

test("an import that a module lists twice, with two types, may wait with either", async () => {
  const guest = assemble(`(module
      (import "env" "wait" (func $a (param i32) (result i32))) (import "env" "wait" (func $b (param f64) (result f64)))
    (func (export "a") (param i32) (result i32) (call $a (local.get 0)))
    (func (export "b") (param f64) (result f64) (call $b (local.get 0))))`);
  const { exports } = await fiberfill.instantiate(guest, env);
  assert.deepEqual(await Promise.all([exports.a(1), exports.b(1.5)]), [2, 2.5]);
});

test("an argument that cannot be inspected rejects the call, and throws nothing at the caller", async () => {
  const { exports } = await fiberfill.instantiate(plusOne, env);
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  for (const argument of [gone, gone.buffer])
    await assert.rejects(exports.f(argument), { code: "bad-argument", message: /detached/ });
  const trap = () => {
    throw new Error("trap");
  };
  for (const argument of [revoked(), new Proxy({}, { get: trap, getPrototypeOf: trap })]) {
    await assert.rejects(exports.f(argument), { code: "bad-argument", message: /export f .* cannot be looked at/ });
  }
  await assert.rejects(fiberfill.instantiate(gone), { code: "bad-argument", message: /detached/ });
  const length = `(module
    (memory (export "memory") 3)
    (global $__stack_pointer (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "length") (param i32 i32) (result i32) (local.get 1)))`;
  const measures = (await fiberfill.instantiate(assemble(length))).exports;
  const buffer = new ArrayBuffer(16, { maxByteLength: 16 });
  const views = [new Uint8Array(buffer, 8, 4), new DataView(buffer, 8, 4), new Float64Array(buffer, 8, 1)];
  assert.deepEqual(await Promise.all(views.map((view) => measures.length(view))), [4, 4, 8]);
  buffer.resize(4); // the views are out of its bounds
  for (const view of views) await assert.rejects(measures.length(view), { code: "bad-argument" });
});

test("a Response may have no parameters in its MIME type, as on the platform", async () => {
  const response = (type) => new Response(plusOne, { headers: { "content-type": type } });
  await assert.rejects(fiberfill.compileStreaming(response("application/wasm; charset=utf-8")), {
    code: "wrong-mime-type",
    message: /without parameters/,
  });
  await fiberfill.compileStreaming(response("application/wasm"));
});

test("a Response that failed, is used, is locked, breaks off or is not one is refused with a code", async () => {
  const response = (body = plusOne, more = {}) =>
    new Response(body, { headers: { "content-type": "application/wasm" }, ...more });
  const used = response();
  await used.arrayBuffer();
  const locked = response();
  locked.body.getReader();
  const broken = new ReadableStream({ pull: (c) => c.error(new Error("gone")) });
  for (const [given, code] of [
    [response(plusOne, { status: 404, statusText: "Not Found" }), "bad-response"],
    [Response.error(), "bad-response"],
    [used, "bad-response"],
    [locked, "bad-response"],
    [response(broken), "bad-response"],
    [response(null), "not-wasm"],
    [Object.create(Response.prototype), "not-a-response"],
    [{}, "not-a-response"],
  ]) {
    await assert.rejects(fiberfill.instantiateStreaming(given, env), { code });
  }
});

test("objects of another realm are accepted: bytes, a module, a string in its buffer", async () => {
  const other = (code) => runInNewContext(code, { bytes: [...plusOne] });
  const source = other("new Uint8Array(bytes).buffer");
  assert.equal(source instanceof ArrayBuffer, false);
  const { exports } = await fiberfill.instantiate(source, env);
  assert.equal(await exports.f(1), 2);
  structuredClone(source, { transfer: [source] });
  await assert.rejects(fiberfill.instantiate(source, env), { code: "bad-argument", message: /detached/ });
  await assert.rejects(fiberfill.instantiate(other("new WebAssembly.Module(new Uint8Array(bytes))"), env), {
    code: "foreign-module",
  });
  const guest = assemble(`(module (import "env" "wait" (func $wait (param i32) (result i32))) (memory 2)
    (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "second") (param i32 i32) (result i32)
      (drop (call $wait (local.get 1))) (i32.load8_u (i32.add (local.get 0) (i32.const 1)))))`);
  const { exports: buffers } = await fiberfill.instantiate(guest, env);
  const shared = new SharedArrayBuffer(3);
  new Uint8Array(shared).set([7, 8, 9]);
  for (const given of [
    other("new Uint8Array([7, 8, 9]).buffer"),
    other("new Uint8Array([7, 8, 9])"),
    shared,
    new Uint8Array(shared),
  ])
    assert.equal(await buffers.second(given), 8);
});

test("the trap of a function that another realm has instantiated is a trap", async () => {
  const trap = runInNewContext("new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes))).exports.f", {
    bytes: [...assemble('(module (func (export "f") (param i32) (result i32) (unreachable)))')],
  });
  for (const wait of [trap, fiberfill.suspending(trap)]) {
    const { exports } = await fiberfill.instantiate(plusOne, { env: { wait } });
    await assert.rejects(exports.f(1), { code: "trap", message: /trapped in export f: .*unreachable/ });
  }
});

test("an import object is read as the platform reads it: each value once and in order", async () => {
  const guest = assemble(
    `(module (import "a" "x" (func)) (import "b" "y" (func)) (import "a" "z" (func))
      (import "fiberfill" "yield" (func)))`,
  );
  const { imports, read } = noting({ a: { x() {}, z() {} }, b: { y() {} }, fiberfill: { yield() {} } });
  await fiberfill.instantiate(guest, imports);
  assert.deepEqual(read, ["a", "a.x", "b", "b.y", "a", "a.z", "fiberfill", "fiberfill.yield"]);
});

/** The same import object, and a list of what has been read of it so far. */
function noting(given) {
  const read = [];
  const watched = (object, path) =>
    new Proxy(object, {
      get(target, name) {
        read.push(path + name);
        return typeof target[name] === "function" ? target[name] : watched(target[name], `${path}${name}.`);
      },
    });
  return { imports: watched(given, ""), read };
}

test("the name and the signal of a call are read once, and a later call throws nothing", async () => {
  const { exports } = await fiberfill.instantiate(plusOne, env);
  const mine = new Error("mine");
  const once = (key, value) => {
    let read = false;
    return Object.defineProperty({}, key, {
      get() {
        if (read) throw mine;
        read = true;
        return value;
      },
    });
  };
  for (const options of [once("name", "it"), once("signal", new AbortController().signal)]) {
    const f = exports.f.with(options);
    assert.deepEqual(await Promise.all([f(1), f(2)]), [2, 3]);
    assert.throws(() => exports.f.with(options), mine);
  }
  assert.throws(() => exports.f.with({ signal: Object.create(AbortSignal.prototype) }), { code: "bad-argument" });
  assert.deepEqual(fiberfill.fibers(), []);
});

test("an odd thenable from an import ends its wait once, or throws in the caller, never in the scheduler", async () => {
  const mine = new Error("mine");
  const throws = () => {
    throw mine;
  };
  const promise = (more) => Object.defineProperties(Promise.resolve(1), Object.getOwnPropertyDescriptors(more));
  const nth = (n) => ({
    get constructor() {
      return n-- > 0 ? Promise : throws();
    },
  });
  for (const [make, value] of [
    [() => promise({ then: throws }), 1], // as with await: a Promise's own then is not called
    [
      () =>
        promise({
          then(a) {
            (a(5), a(6));
          },
        }),
      1,
    ],
    [() => promise({ then() {} }), 1],
    [() => promise(nth(0)), mine],
    [() => promise(nth(1)), mine],
    [() => new (class extends Promise {})((resolve) => resolve(7)), 7],
    [() => runInNewContext("Promise.resolve(9)"), 9],
    [
      () => ({
        then(a, b) {
          (a(2), a(3), b(mine), throws());
        },
      }),
      2,
    ],
    [() => ({ then: throws }), mine],
    [
      () => ({
        get then() {
          return throws();
        },
      }),
      mine,
    ],
    [() => new Proxy(Promise.resolve(1), { getPrototypeOf: throws }), mine],
    [async () => Symbol("no number"), TypeError],
    [() => 1n, TypeError],
  ]) {
    const { exports } = await fiberfill.instantiate(plusOne, { env: { wait: fiberfill.suspending(make) } });
    for (const result of await Promise.allSettled([exports.f(1), exports.f(2)])) {
      if (value === TypeError) assert.ok(result.reason instanceof TypeError);
      else assert.equal(result.status === "fulfilled" ? result.value : result.reason, value, String(make));
    }
    assert.deepEqual(fiberfill.fibers(), []);
  }
});

test("an import that is a WebAssembly.Suspending of the platform is refused: its waits would go unseen", async () => {
  const wait = new WebAssembly.Suspending(async (v) => v);
  await assert.rejects(fiberfill.instantiate(plusOne, { env: { wait } }), {
    code: "bad-import",
    message: /import env\.wait .*fiberfill\.suspending/,
  });
});

test("an import that cannot be called is refused by name, even a mark of another copy of fiberfill", async () => {
  const other = createRequire(import.meta.url)("../../web/dist/npm/cjs/index.js");
  for (const wait of [7, {}, other.suspending(async (v) => v)]) {
    await assert.rejects(fiberfill.instantiate(plusOne, { env: { wait } }), {
      code: "bad-import",
      message: /import env\.wait must be a function, got (number|an object of type \w+); .*copy of fiberfill/,
    });
  }
});

test("fibers cannot be made by hand, and trying loses none", async () => {
  const { exports } = await fiberfill.instantiate(plusOne, env);
  const fiber = exports.f(1);
  const refusal = { code: "bad-argument", message: /fibers are made by calling exports/ };
  assert.throws(() => new fiberfill.Fiber(() => {}), refusal);
  assert.throws(() => new fiberfill.Arena(() => {}), refusal);
  assert.throws(() => fiberfill.Fiber.resolve(1), refusal);
  assert.throws(() => fiberfill.Fiber.all([fiber]), refusal);
  assert.equal(await fiber, 2);
});

/** A value that throws whatever is asked of it. */
function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

test("what imports throw or reject with arrives unchanged, whatever it is", async () => {
  for (const mine of [
    revoked(),
    undefined,
    null,
    NaN,
    Symbol("s"),
    Object.freeze([]),
    new WebAssembly.RuntimeError("mine"),
    new WebAssembly.SuspendError("mine"),
  ]) {
    for (const make of [
      () => Promise.reject(mine),
      () => {
        throw mine;
      },
    ]) {
      const { exports } = await fiberfill.instantiate(plusOne, { env: { wait: fiberfill.suspending(make) } });
      const [result] = await Promise.allSettled([exports.f(1)]);
      assert.ok(result.status === "rejected" && Object.is(result.reason, mine));
    }
  }
});

test("what the start function throws arrives unchanged", async () => {
  const guest = assemble(`(module (import "env" "go" (func $go)) (start $go))`);
  for (const mine of [new TypeError("mine"), new RangeError("mine"), { mine: true }, null, revoked()]) {
    const go = () => {
      throw mine;
    };
    const [result] = await Promise.allSettled([fiberfill.instantiate(guest, { env: { go } })]);
    assert.ok(result.status === "rejected" && Object.is(result.reason, mine));
  }
});

test("a start function may call a marked import that does not wait; a wait is refused, a trap reported", async () => {
  const guest = assemble(`(module (import "env" "wait" (func $wait (param i32) (result i32)))
    (global $got (export "got") (mut i32) (i32.const 0))
    (func (export "f") (param i32) (result i32) (call $wait (local.get 0)))
    (func $start (global.set $got (call $wait (i32.const 1)))) (start $start))`);
  const asked = [];
  const wait = fiberfill.suspending((v) => (asked.push(v), v === 1 ? 7 : Promise.resolve(v)));
  const { instance, exports } = await fiberfill.instantiate(guest, { env: { wait } });
  assert.equal(instance.exports.got.value, 7);
  assert.equal(await exports.f(2), 2);
  assert.deepEqual(asked, [1, 2]);
  await assert.rejects(fiberfill.instantiate(guest, env), {
    code: "cannot-suspend",
    message: /^import env\.wait has to wait.* start function/,
  });

  // Nothing starts here, so the message must not speak of a start function.
  const outside = assemble(
    `(module (import "env" "wait" (func $wait (param i32) (result i32))) (memory 1) (data (i32.const 65536) "x"))`,
  );
  await assert.rejects(
    fiberfill.instantiate(outside, env),
    ({ code, message }) => code === "trap" && !message.includes("start"),
  );
});

test("exports may have any name, even one of ours", async () => {
  const names = [
    "then",
    "constructor",
    "toString",
    "valueOf",
    "toJSON",
    "with",
    "name",
    "prototype",
    "length",
    "",
    "0",
    "fiberfill:f",
  ];
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (param i32) (result i32))) (memory 1) (global $sp (mut i32) (i32.const 65536))
    (func $f (param i32) (result i32)
      (global.set $sp (i32.sub (global.get $sp) (i32.const 16)))
      (i32.store (global.get $sp) (local.get 0)) (drop (call $wait (i32.const 0)))
      (i32.load (global.get $sp)) (global.set $sp (i32.add (global.get $sp) (i32.const 16))))
    ${names.map((name) => `(export ${JSON.stringify(name)} (func $f))`).join(" ")})`);
  const { exports } = await fiberfill.instantiate(guest, env);
  assert.deepEqual(Object.keys(exports).sort(), [...names].sort());
  const calls = names.map((name, i) => exports[name].with({ name: `call ${i}` })(i));
  assert.deepEqual(
    calls.map((fiber) => fiber.export),
    names,
  );
  assert.deepEqual(
    await Promise.all(calls),
    names.map((_, i) => i),
  );
});

test("what an observer throws is an unhandled rejection, and every fiber gets its answer", async () => {
  const { exports } = await fiberfill.instantiate(plusOne, env);
  const mine = new Error("mine");
  let seen = 0;
  const stop = fiberfill.observe(() => {
    seen++;
    throw mine;
  });
  const errors = await escaped(async () => assert.deepEqual(await Promise.all([exports.f(1), exports.f(2)]), [2, 3]));
  stop();
  assert.ok(seen >= 6, `${seen}`);
  assert.deepEqual(errors, Array(seen).fill(mine));
  assert.deepEqual(fiberfill.fibers(), []);
});

test("the same function may observe twice, and each is stopped on its own", async () => {
  const { exports } = await fiberfill.instantiate(plusOne, env);
  let seen = 0;
  const observer = () => seen++;
  const [first, second] = [fiberfill.observe(observer), fiberfill.observe(observer)];
  await exports.f(1);
  assert.equal(seen % 2, 0);
  first();
  const before = seen;
  await exports.f(1);
  assert.equal(seen, before + before / 2);
  second();
});

test("observe refuses what is not a function, and limits what is not an object", () => {
  for (const bad of [undefined, null, {}, "f"]) assert.throws(() => fiberfill.observe(bad), { code: "bad-argument" });
  for (const bad of [null, 5, { soft: 1n }, { soft: Symbol("s") }, { hard: Object.create(null) }])
    assert.throws(() => fiberfill.limits(bad), { code: "bad-argument" });
});

test("below the platform's own promising nothing can wait, and no fiber is harmed", async () => {
  const three = assemble(`(module
    (import "env" "wait" (func $wait (param i32) (result i32)))
    (import "fiberfill" "yield" (func $yield))
    (import "fiberfill" "sleep_ms" (func $sleep (param f64)))
    (func (export "f") (param i32) (result i32) (call $wait (local.get 0)))
    (func (export "y") (call $yield))
    (func (export "s") (call $sleep (f64.const 1))))`);
  const refused = { code: "cannot-suspend", message: /call .* from fiberfill's exports/ };
  const raw = async () => {
    for (const name of ["f", "y", "s"]) {
      await assert.rejects(WebAssembly.promising(g.instance.exports[name])(1), refused, name);
    }
  };
  const inside = [];
  const wait = fiberfill.suspending((v) => {
    inside.push(raw());
    return new Promise((resolve) => setTimeout(resolve, 0, v + 1));
  });
  const g = await fiberfill.instantiate(three, { env: { wait } });
  await raw(); // while no fiber runs
  assert.deepEqual(await Promise.all([g.exports.f(1), g.exports.f(2), g.exports.f(3)]), [2, 3, 4]);
  assert.equal(inside.length, 3);
  await Promise.all(inside);
  assert.equal(await g.exports.f(4), 5);
  assert.deepEqual(fiberfill.fibers(), []);
});

test("a string in the place of a number is refused where it leaves too few parameters for the others", async () => {
  const guest = assemble(`(module
    (import "env" "wait" (func $wait (param i32) (result i32)))
    (memory (export "memory") 2)
    (global (export "__stack_pointer") (mut i32) (i32.const 65536))
    (func (export "one") (param i32) (result i32) (call $wait (local.get 0)))
    (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    (func (export "length") (param i32 i32 i32) (result i32) (i32.add (local.get 1) (local.get 2)))
    (func (export "last") (param i32 i32 i32) (result i32) (i32.add (local.get 0) (local.get 2)))
    (func (export "held") (param externref i32 i32) (result externref i32) (local.get 0) (local.get 2)))`);
  const { exports } = await fiberfill.instantiate(guest, env);
  for (const [call, text] of [
    [() => exports.add("84", 2), /argument 1 of export add, string, takes two .*; of the 2 that leaves too few/],
    [() => exports.add(84, "2"), /argument 2 of export add, string/],
    [() => exports.add("84", "2"), /argument 1 of export add, string/],
    [() => exports.add(new Uint8Array(3), 2), /argument 1 of export add, an object of type Uint8Array/],
    [() => exports.one("20"), /argument 1 of export one, string, .* of the 1 that/],
    [() => exports.length("text", 1, 2), /argument 1 of export length/],
    [() => exports.held("kept", "text", 1), /argument 2 of export held/],
    [() => Promise.all(["20"].map(exports.one)), /argument 1 of export one/],
  ]) {
    await assert.rejects(call(), { code: "bad-argument", message: text }, String(call));
  }
  assert.equal(await exports.length("text", 1), 5);
  assert.equal(await exports.last(1, "text"), 5);
  assert.deepEqual(await exports.held("kept", "text"), ["kept", 4]);
  assert.equal(await exports.add(1, 2, 3), 3); // as in every function of JavaScript
  assert.equal((await Promise.all(["a", "bc"].map(exports.add))).length, 2);
  assert.deepEqual(await Promise.all(["a", "bc"].map(exports.length)), [1, 3]); // the index is the third
});
