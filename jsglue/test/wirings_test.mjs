// Instances that are wired to each other: what raw JSPI gets right is right on fiberfill/webassembly, and on
// fiberfill's own instantiate. Programs are made at random (wirings.mjs) and played on both. Wirings that were wrong
// once are here by name, or by seed. Run over web/dist/npm in Node 26.
//
// Where JSPI is hidden from fiberfill (without_jspi.mjs), its stacks are its own, and raw JSPI is still the platform's.
// Where there is none, or one that does not work, nothing says which calls that overlap raw JSPI would get right: there
// the calls of programs have to be right that make them one after another.
//
// FIBERFILL_SEED is the seed of the first program, FIBERFILL_WIRINGS the number of programs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fibers, instantiate, suspending } from "../../web/dist/npm/esm/index.js";
import { WebAssembly as ours } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";
import { bytes, play, program, right } from "./wirings.mjs";

const SEED = Number(process.env.FIBERFILL_SEED ?? 1);
const COUNT = Number(process.env.FIBERFILL_WIRINGS ?? 300);
const wrongOnce = [777391, 777479, 777556, 777930, 779158];
const seeds = (count) => [...wrongOnce, ...Array.from({ length: count }, (_, i) => SEED + i)];

const namespace = (platform) => ({
  late: true,
  suspending: (fn) => new platform.Suspending(fn),
  promising: (fn) => platform.promising(fn),
  instantiate: (module, imports) => new platform.Instance(new platform.Module(module), imports),
});
const hidden = globalThis[Symbol.for("fiberfill.test.jspi")];
const platform = { ...hidden };
for (const name of Object.getOwnPropertyNames(WebAssembly)) platform[name] ??= WebAssembly[name];
const raw = (hasJSPI || hidden?.promising) && namespace(platform);
const unwinds = !hasJSPI;

const compared = "calls that raw JSPI gets right are right on fiberfill/webassembly, serial ones always";
test(`${COUNT} programs from seed ${SEED}: ${compared}`, async () => {
  for (const seed of seeds(COUNT)) {
    const made = program(seed);
    // On stacks of fiberfill's own, promising takes only exports: others are refused when they would wait.
    if (unwinds && made.entries.some(({ f }) => f === 3)) continue;
    const modules = made.instances.map((_, i) => bytes(made, i));
    const theirs = raw && (await play(made, raw, modules));
    const calls = await play(made, namespace(ours), modules);
    calls.forEach((call, i) => {
      const wanted = !made.overlapped || (theirs?.[i] && right(theirs[i]));
      if (wanted && !right(call)) assert.fail(`seed ${seed}, call ${i}: ${JSON.stringify(call)}`);
    });
    if (theirs && !made.overlapped) assert.ok(theirs.every(right), `seed ${seed}: raw JSPI gets a serial call wrong`);
  }
  assert.deepEqual(fibers(), []);
});

test("on fiberfill's instantiate, linked by the platform's exports and tables, every call is right", async () => {
  const fiberOf = new WeakMap();
  const own = {
    late: false, // if stacks are copied, late writes need a deliver function
    suspending,
    promising: (fn) => fiberOf.get(fn),
    instantiate: async (module, imports) => {
      const { instance, exports } = await instantiate(module, imports);
      for (const [name, fn] of Object.entries(instance.exports))
        if (typeof fn === "function") fiberOf.set(fn, exports[name]);
      return instance;
    },
  };
  for (const seed of seeds(Math.ceil(COUNT / 5))) {
    const made = program(seed);
    if (made.entries.some(({ f }) => f === 3)) continue; // only exports are fibers
    const calls = await play(
      made,
      own,
      made.instances.map((_, i) => bytes(made, i)),
    );
    for (const call of calls) assert.ok(right(call), `seed ${seed}: ${JSON.stringify(call)}`);
  }
  assert.deepEqual(fibers(), []);
});

// A function made by keep pushes a frame with its argument, does its work, and returns the argument from the frame plus
// the result of the work. It returns -1 if the pointer has moved, which never happens if calls run one after another.
const keep = (name, work) => `(func ${name} (param $v i32) (result i32) (local $frame i32) (local $sum i32)
  (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
  (i32.store (local.get $frame) (local.get $v))
  ${[work]
    .flat()
    .map((each) => `(local.set $sum (i32.add (local.get $sum) (call ${each})))`)
    .join(" ")}
  (if (i32.ne (global.get $sp) (local.get $frame)) (then (return (i32.const -1))))
  (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
  (i32.add (local.get $sum) (i32.load (local.get $frame))))`;
const push = `(func $push (export "push") (param i32) (result i32)
  (global.set $sp (i32.sub (global.get $sp) (i32.const 64)))
  (memory.fill (global.get $sp) (local.get 0) (i32.const 64))
  (global.set $sp (i32.add (global.get $sp) (i32.const 64)))
  (i32.const 0))`;
const stack = `(memory (export "memory") 2)
  (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536)) ${push}`;
const waits = '(import "env" "wait" (func $wait (param i32) (result i32)))';

/**
 * For each wiring, a function that makes its instances. It returns the one whose run is called, and the one on whose
 * stack the wait happens.
 */
const wirings = {
  "an export waits in a function that another instance has put into its table": (make, wait) => {
    const main = make(
      `(module (type $f (func (param i32) (result i32))) ${stack}
        (table (export "table") 1 funcref)
        (func $in (param i32) (result i32) (call_indirect (type $f) (local.get 0) (i32.const 0)))
        ${keep('(export "run")', ["$in (local.get $v)", "$push (i32.const 9)", "$in (local.get $v)"])})`,
      {},
    );
    make(`(module ${waits} (import "main" "table" (table 1 funcref)) (elem (i32.const 0) func $wait))`, {
      env: { wait },
      main: main.exports,
    });
    return [main, main];
  },
  "an export calls another instance's export that waits": (make, wait) => {
    const library = make(`(module ${waits} ${stack} ${keep('(export "keep")', "$wait (local.get $v)")})`, {
      env: { wait },
    });
    const text = `(module (import "library" "keep" (func $keep (param i32) (result i32))) ${stack}
      ${keep('(export "run")', ["$keep (local.get $v)", "$push (i32.const 9)", "$keep (local.get $v)"])})`;
    return [make(text, { library: library.exports }), library];
  },
  "an export calls another instance's that waits, and waits in an import of its own": (make, wait) => {
    const library = make(`(module ${waits} ${stack} ${keep('(export "keep")', "$wait (local.get $v)")})`, {
      env: { wait },
    });
    const work = ["$wait (local.get $v)", "$keep (local.get $v)", "$push (i32.const 9)", "$wait (local.get $v)"];
    const text = `(module ${waits} (import "library" "keep" (func $keep (param i32) (result i32))) ${stack}
      ${keep('(export "run")', work)})`;
    return [make(text, { env: { wait }, library: library.exports }), library];
  },
  // As jco makes a component of modules. The main module imports a shim's functions, which call through a table that a
  // third module fills once the imports exist. The library that main calls shares main's memory and stack pointer.
  "the modules of a component share a stack pointer, and wait through a shim's table": (make, wait) => {
    const shim = make(
      `(module (type $f (func (param i32) (result i32))) (table (export "$imports") 1 funcref)
        (func (export "0") (param i32) (result i32) (call_indirect (type $f) (local.get 0) (i32.const 0))))`,
      {},
    );
    const sp = new WebAssembly.Global({ value: "i32", mutable: true }, 65536);
    const memory = new WebAssembly.Memory({ initial: 2 });
    const env = { memory, __stack_pointer: sp };
    const shared = `(import "env" "memory" (memory 2)) (import "env" "__stack_pointer" (global $sp (mut i32)))`;
    const library = make(
      `(module (import "shim" "0" (func $wait (param i32) (result i32))) ${shared} ${push}
        ${keep('(export "keep")', "$wait (local.get $v)")})`,
      { shim: shim.exports, env },
    );
    const main = make(
      `(module (import "library" "keep" (func $keep (param i32) (result i32))) ${shared} ${push}
        ${keep('(export "run")', ["$keep (local.get $v)", "$push (i32.const 9)", "$keep (local.get $v)"])})`,
      { library: library.exports, env },
    );
    make(`(module ${waits} (import "" "$imports" (table 1 funcref)) (elem (i32.const 0) func $wait))`, {
      env: { wait },
      "": shim.exports,
    });
    return [main, library];
  },
};

for (const [what, wire] of Object.entries(wirings)) {
  for (const [whose, one] of [...(raw ? [["raw JSPI", platform]] : []), ["fiberfill/webassembly", ours]]) {
    test(`${what}: serial calls keep their frames beside plain ones: on ${whose}`, async () => {
      const pending = [];
      const make = (text, imports) => new one.Instance(new one.Module(assemble(text)), imports);
      const wait = new one.Suspending((v) => new Promise((resolve) => pending.push({ v, resolve })));
      const [{ exports }, library] = wire(make, wait);
      const run = one.promising(exports.run);
      for (let v = 1; v < 4; v++) {
        let ended = false;
        const call = run(v).finally(() => (ended = true));
        let waited = 0;
        for (; !ended; await new Promise(setImmediate)) {
          exports.push(77);
          library.exports.push(78);
          pending.splice(0).forEach(({ v, resolve }) => (waited++, resolve(v)));
        }
        const frames = (await call) / v;
        assert.ok(waited >= 2 && frames === Math.round(frames) && frames > waited, `${await call} after ${waited}`);
      }
    });
  }

  test(`${what}: overlapped calls that end in any order keep their frames`, async () => {
    const pending = [];
    const make = (text, imports) => new ours.Instance(new ours.Module(assemble(text)), imports);
    const wait = new ours.Suspending((v) => new Promise((resolve) => pending.push(() => resolve(v))));
    const [{ exports }, library] = wire(make, wait);
    const run = ours.promising(exports.run);
    const alone = run(1);
    for (; pending.length > 0; await new Promise(setImmediate)) pending.pop()();
    const calls = Array.from({ length: 20 }, (_, v) => run(v));
    for (let n = 3; pending.length > 0; n++) {
      pending.splice((7 * n) % pending.length, 1)[0]();
      exports.push(77);
      library.exports.push(78);
      await new Promise(setImmediate);
    }
    const each = await alone;
    assert.deepEqual(
      await Promise.all(calls),
      calls.map((_, v) => v * each),
    );
    assert.deepEqual(fibers(), []);
  });
}

// An allocator of regions, each above those before it.
const upwards = `(memory (export "memory") 10)
  (global $next (mut i32) (i32.const 65536))
  (func (export "malloc") (param $size i32) (result i32)
    (global.get $next) (global.set $next (i32.add (global.get $next) (local.get $size))))
  (func (export "free") (param i32))`;

/** Two instances. run(n) calls the library's deep(n), which waits twice below a frame of n bytes, and fills it. */
function callsLibrary(wait) {
  const make = (text, imports) => new ours.Instance(new ours.Module(assemble(text)), imports);
  const library = make(
    `(module ${waits} ${upwards} (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
      (func (export "deep") (param $n i32) (result i32) (local $frame i32)
        (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (local.get $n))))
        (memory.fill (local.get $frame) (i32.const 1) (local.get $n))
        (drop (call $wait (i32.const 0)))
        (drop (call $wait (i32.const 0)))
        (global.set $sp (i32.add (local.get $frame) (local.get $n)))
        (local.get $n)))`,
    { env: { wait: new ours.Suspending(wait) } },
  );
  const { exports } = make(
    `(module (import "library" "deep" (func $deep (param i32) (result i32)))
      (func (export "run") (param i32) (result i32) (call $deep (local.get 0))))`,
    { library: library.exports },
  );
  return { library, run: ours.promising(exports.run) };
}

test("a call that overflows its part of another instance's stack is told so, and so is its victim", async () => {
  const pending = [];
  const { run } = callsLibrary((v) => new Promise((resolve) => pending.push(() => resolve(v))));
  const ends = Promise.allSettled([run(64), run(65600)]);
  for (; pending.length > 0; await new Promise(setImmediate)) pending.shift()();
  const [near, large] = await ends;
  assert.equal(large.reason?.code, "region-overflow");
  assert.match(large.reason.message, /run.* needs more shadow stack than the 65536 bytes it has/);
  assert.match(near.reason?.message, /run.* lost its shadow stack/);
  const after = run(64);
  for (; pending.length > 0; await new Promise(setImmediate)) pending.shift()();
  assert.equal(await after, 64);
  assert.deepEqual(fibers(), []);
});

for (const how of ["run", "trap"]) {
  test(`an overflow of another instance's stack without a wait is told, and so is its victim: ${how}`, async () => {
    const pending = [];
    const wait = new ours.Suspending((v) => new Promise((resolve) => pending.push(() => resolve(v))));
    const make = (text, imports) => new ours.Instance(new ours.Module(assemble(text)), imports);
    // deep(n, waits) writes to all of a frame of n bytes.
    const library = make(
      `(module ${waits} ${upwards} (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))
        (func (export "deep") (param $n i32) (param $waits i32) (result i32) (local $frame i32)
          (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (local.get $n))))
          (memory.fill (local.get $frame) (i32.const 1) (local.get $n))
          (if (local.get $waits) (then (drop (call $wait (i32.const 0)))))
          (global.set $sp (i32.add (local.get $frame) (local.get $n)))
          (local.get $n)))`,
      { env: { wait } },
    );
    const { exports } = make(
      `(module (import "library" "deep" (func $deep (param i32 i32) (result i32)))
        (func (export "run") (param i32 i32) (result i32) (call $deep (local.get 0) (local.get 1)))
        (func (export "trap") (param i32 i32) (drop (call $deep (local.get 0) (i32.const 0))) (unreachable)))`,
      { library: library.exports },
    );
    const run = ours.promising(exports.run);
    const ended = async (call) => {
      for (; pending.length > 0; await new Promise(setImmediate)) pending.shift()();
      return call;
    };
    assert.equal(await ended(run(64, 1)), 64); // from now on fibers have regions there
    const near = assert.rejects(run(64, 1), /lost its shadow stack/);
    const text = /needs more shadow stack than the 65536 bytes/;
    await assert.rejects(ours.promising(exports[how])(65600, 0), { code: "region-overflow", message: text });
    assert.equal(await run(64, 0), 64);
    await ended(near);
    assert.equal(await ended(run(64, 1)), 64);
    assert.deepEqual(fibers(), []);
  });
}

test("a spoilt library has no stack for those that still call it", async () => {
  const { library, run } = callsLibrary(async (v) => v);
  assert.equal(await run(64), 64); // from now on fibers have regions there
  await assert.rejects(run(65536 + 20000), { code: "region-overflow", message: /make a new instance$/ });
  await assert.rejects(run(64));
  assert.throws(() => library.exports.deep(64));
  assert.deepEqual(fibers(), []);
});

test("a stack pointer that instances with different memories share is refused where calls have regions", async () => {
  const wait = async (v) => v;
  const text = (pointer, memory) => `(module ${waits} ${pointer} ${memory} ${push}
    ${keep('(export "keep")', "$wait (local.get $v)")})`;
  const memory = '(memory (export "memory") 2)';
  const first = assemble(text('(global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))', memory));
  const next = (memory) => assemble(text('(import "env" "__stack_pointer" (global $sp (mut i32)))', memory));
  const code = { code: "bad-guest", message: /another one's stack pointer and another memory/ };
  const make = (bytes, env) => new ours.Instance(new ours.Module(bytes), { env });
  const one = make(first, { wait: new ours.Suspending(wait) });
  const env = { ...one.exports, wait: new ours.Suspending(wait) };
  assert.throws(() => make(next(memory), env), code);
  make(next('(import "env" "memory" (memory 2))'), env);
  const a = await instantiate(first, { env: { wait: suspending(wait) } });
  const imports = { env: { ...a.instance.exports, wait: suspending(wait) } };
  await assert.rejects(instantiate(next(memory), imports), code);
  const b = await instantiate(next('(import "env" "memory" (memory 2))'), imports);
  assert.deepEqual(await Promise.all([a.exports.keep(1), b.exports.keep(2), a.exports.keep(3)]), [2, 4, 6]);
  // Without regions frames lie in their place, which is no other one for either memory.
  const host = { __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, 65536) };
  for (let i = 0; i < 2; i++) {
    const { exports } = make(next(memory), { ...host, wait: new ours.Suspending(wait) });
    assert.equal(await ours.promising(exports.keep)(5), 10);
  }
});
