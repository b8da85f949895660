// Shadow stacks by choice: instantiate's options, what fiberfill finds out by itself, and bad choices. Run over
// web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

const collector = new URL("testdata/collector.wasm", import.meta.url);

const suspending = (fn) => ({ env: { wait: fiberfill.suspending(fn) } });

/** keep(v, n) pushes v and n bytes, waits, and returns the v that it then finds, or -1 if the pointer has moved. */
const wat = ({
  memory = '(memory (export "memory") 2)',
  global = "(global $sp (mut i32) (i32.const 65536))",
  more = "",
} = {}) => `(module
  (import "env" "wait" (func $wait (param i32)))
  ${memory}
  ${global}
  (func (export "keep") (param $v i32) (param $n i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (i32.sub (global.get $sp) (i32.const 16)) (local.get $n))))
    (i32.store (local.get $frame) (local.get $v))
    (call $wait (local.get $v))
    (if (i32.ne (global.get $sp) (local.get $frame)) (then (return (i32.const -1))))
    (local.set $v (i32.load (local.get $frame)))
    (global.set $sp (i32.add (local.get $frame) (i32.add (local.get $n) (i32.const 16))))
    (local.get $v))
  ${more})`;

const unclear = "(global $other (mut i32) (i32.const 0)) (global $sp (mut i32) (i32.const 65536))";

const malloc = `(global $top (mut i32) (i32.const 131072))
  (func (export "malloc") (param i32) (result i32)
    (drop (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get 0) (i32.const 16)))))
    (global.set $top (i32.add (global.get $top) (local.get 0)))
    (i32.sub (global.get $top) (local.get 0)))
  (func (export "free") (param i32))`;

/** 20 overlapping calls that end in an order of their own, or one after another where it has to be. */
async function overlap(text, source, options, passes) {
  const ends = [];
  const { exports, instance, stacks } = await fiberfill.instantiate(
    assemble(text, passes),
    suspending((v) => new Promise((end) => ends.push([v, end]))),
    options,
  );
  assert.equal(stacks.source, source, stacks.why);
  if (passes) instance.exports.__set_stack_limits(65536, 1024); // as Emscripten's glue does
  const told = warnings();
  const calls = Array.from({ length: 20 }, (_, i) => exports.keep(1000 + i, 16 * i));
  if (source === "serial") {
    for (let i = 0; i < 20; i++) {
      while (ends.length < 1) await new Promise(setImmediate);
      const [[v, end]] = ends.splice(0);
      assert.equal(v, 1000 + i, "in order, and one at a time");
      end();
      await calls[i];
    }
  }
  while (source !== "serial" && ends.length < 20) await new Promise(setImmediate);
  ends.sort(([a], [b]) => ((a * 7919) % 101) - ((b * 7919) % 101));
  for (const [, end] of ends) end();
  assert.deepEqual(
    await Promise.all(calls),
    Array.from({ length: 20 }, (_, i) => 1000 + i),
  );
  assert.deepEqual(fiberfill.fibers(), []);
  const asked = options?.shadowStack?.regions === source;
  assert.equal(told().length, source === "serial" && !asked ? 1 : 0);
}

/** Listens to console.warn; returns a function that ends this and returns what was said. */
function warnings() {
  const said = [];
  const { warn } = console;
  console.warn = (text) => said.push(text);
  return () => {
    console.warn = warn;
    return said;
  };
}

// What Emscripten does to a module with -sSTACK_OVERFLOW_CHECK=2.
test(
  "overlapping calls keep their stacks apart: an allocator, and a pointer that is checked to stay within " +
    "its stack",
  () => overlap(wat({ more: malloc }).replaceAll("$sp", "$__stack_pointer"), "serial", undefined, ["stack-check"]),
);

// What only a frame refers to is collected where the collector does not see that frame.
test("a guest with a collector keeps what a waiting call's frame refers to", async () => {
  const { exports, stacks, instance } = await fiberfill.instantiate(await readFile(collector));
  instance.exports._initialize();
  assert.equal(stacks.source, "serial");
  const told = warnings();
  assert.deepEqual(await Promise.all([exports.keep(7), exports.churn(100_000), exports.keep(9)]), [21, -100_000, 27]);
  assert.match(told().join(), /one after another, .* -gc=leaking/);
  assert.doesNotMatch(told().join(), /copy/);
});

test(
  "a stack that grows up serves one call at a time, and is not taken for one that grows down, nor for " + "none",
  async () => {
    // As Emscripten's fastcomp wrote it: minified, with a pointer that begins as anything, or with a function that
    // tells it.
    const text = (more) => `(module (import "env" "wait" (func $wait (param i32))) (memory (export "memory") 2)
    (global $dynamic (mut i32) (i32.const 20000)) (global $top (mut i32) (i32.const 6368))
    (func (export "f") (param i32) (result i32) (local $frame i32)
      (local.set $frame (global.get $top))
      (global.set $top (i32.add (global.get $top) (i32.const 16)))
      (i32.store (local.get $frame) (local.get 0))
      (call $wait (local.get 0))
      (global.set $top (local.get $frame))
      (i32.load (local.get $frame)))
    ${more})`;
    const imports = suspending(async () => {});
    for (const more of ["", '(func (export "stackSave") (result i32) (global.get $top))']) {
      for (const options of [undefined, { shadowStack: { pointer: null } }]) {
        const { exports, stacks } = await fiberfill.instantiate(assemble(text(more)), imports, options);
        assert.equal(stacks.source, "serial");
        const told = warnings();
        assert.deepEqual(await Promise.all([7, 8, 9].map((v) => exports.f(v))), [7, 8, 9]);
        assert.match(
          told().join(),
          /one after another, fiber f#\d+ the first: .* name its stack pointer by shadowStack/,
        );
      }
    }
  },
);

test("where stacks cannot be kept apart a source by name is refused, with the remedy", async () => {
  const imports = suspending(() => {});
  for (const regions of ["allocator", "grow", "copy"]) {
    for (const [global, pointer] of [[unclear], [undefined, null]]) {
      const text = wat({ global, more: malloc });
      await assert.rejects(fiberfill.instantiate(assemble(text), imports, { shadowStack: { regions, pointer } }), {
        code: "bad-argument",
        message: /name its stack pointer by shadowStack: \{ pointer \}/,
      });
    }
  }
  // A guest whose imports never wait needs no pointer.
  const { stacks } = await fiberfill.instantiate(assemble(wat({ global: unclear })), { env: { wait() {} } });
  assert.equal(stacks.source, "none");
});

test("a guest whose stack lies in a 64-bit memory serves one call at a time", async () => {
  const text = `(module (import "env" "wait" (func $wait (param i32))) (memory (export "memory") i64 2)
    (global $__stack_pointer (export "__stack_pointer") (mut i64) (i64.const 65536))
    (func (export "f") (param i32) (result i32)
      (global.set $__stack_pointer (i64.sub (global.get $__stack_pointer) (i64.const 16)))
      (i32.store (global.get $__stack_pointer) (local.get 0))
      (call $wait (local.get 0))
      (i32.load (global.get $__stack_pointer))
      (global.set $__stack_pointer (i64.add (global.get $__stack_pointer) (i64.const 16)))))`;
  const imports = suspending(async () => {});
  await assert.rejects(
    fiberfill.instantiate(assemble(text), imports, { shadowStack: { pointer: "__stack_pointer" } }),
    { code: "bad-argument", message: /no mutable global of type i32/ },
  );
  const { exports, stacks } = await fiberfill.instantiate(assemble(text), imports);
  assert.equal(stacks.source, "serial");
  const told = warnings();
  assert.deepEqual(await Promise.all([7, 8].map((v) => exports.f(v))), [7, 8]);
  assert.equal(told().length, 1);
  // Without a wait, or without a stack, there is nothing to keep apart.
  await fiberfill.instantiate(assemble(text), { env: { wait() {} } });
  const plain = `(module (import "env" "wait" (func $wait (param i32))) (memory i64 2)
    (func (export "f") (param i32) (call $wait (local.get 0))))`;
  await (await fiberfill.instantiate(assemble(plain), imports)).exports.f(1);
});

test("an overflow error says how deep the stack went and which size to ask for, and that size is enough", async () => {
  const imports = suspending(async () => {});
  const { exports } = await fiberfill.instantiate(assemble(wat()), imports);
  // The frame is written only at its low end, so the write must hit the guard.
  const at = 65536 - 16 - 32;
  const error = await exports.keep(1, at).then(
    () => assert.fail("it did not overflow"),
    (e) => e,
  );
  assert.equal(error.code, "region-overflow");
  const size = Number(/size: (\d+)/.exec(error.message)[1]);
  assert.ok(size >= 65536 + 16, error.message);
  const wide = await fiberfill.instantiate(assemble(wat()), imports, { shadowStack: { size } });
  assert.equal(await wide.exports.keep(7, at), 7);
});

test("an overflow ends the fibers whose stacks it overran, and no others, then or later", async () => {
  // deep(n) fills n bytes of stack from the top, gives them back and returns n: the damage is seen only at its end.
  const more = `(func (export "deep") (param $n i32) (result i32) (local $frame i32) (local $at i32)
    (global.set $sp (local.tee $frame (i32.sub (local.tee $at (global.get $sp)) (local.get $n))))
    (loop $fill
      (i32.store (local.tee $at (i32.sub (local.get $at) (i32.const 4))) (i32.const -1))
      (br_if $fill (i32.gt_u (local.get $at) (local.get $frame))))
    (global.set $sp (i32.add (local.get $frame) (local.get $n)))
    (local.get $n))`;
  let go, opened;
  const { exports } = await fiberfill.instantiate(
    assemble(wat({ more })),
    suspending(() => opened),
    { shadowStack: { regions: "grow" } },
  );
  const settled = (calls) =>
    Promise.allSettled(calls).then((ends) => ends.map(({ value, reason }) => reason?.message ?? value));
  // Regions are made downwards. Of free ones the one that was freed last is handed out first: deep gets the highest
  // one, above nine that are in use.
  opened = new Promise(setImmediate);
  await settled(Array.from({ length: 10 }, (_, i) => exports.keep(i, 0)));
  opened = new Promise((resolve) => (go = resolve));
  const waiting = Array.from({ length: 9 }, (_, i) => exports.keep(i, 0));
  await fiberfill.all([]); // a turn
  const depth = 3 * 65536;
  const error = await exports.deep(depth).then(
    () => assert.fail("it did not overflow"),
    (e) => e,
  );
  assert.equal(error.code, "region-overflow");
  const [, least, size] = /at least (\d+)\. .* size: (\d+)/.exec(error.message).map(Number);
  assert.ok(least > 2 * 65536 && least <= depth && size > depth && size <= 4 * depth, error.message);
  go();
  const ends = await settled(waiting);
  assert.deepEqual(ends.slice(0, 7), [0, 1, 2, 3, 4, 5, 6]);
  for (const end of ends.slice(7)) assert.match(end, /lost its shadow stack: fiber deep#/);
  assert.deepEqual(
    await settled(Array.from({ length: 20 }, (_, i) => exports.keep(i, 0))),
    Array.from({ length: 20 }, (_, i) => i),
  );
  // Now the regions that it overruns are free.
  await assert.rejects(exports.deep(depth), { code: "region-overflow" });
  assert.deepEqual(
    await settled(Array.from({ length: 20 }, (_, i) => exports.keep(i, 0))),
    Array.from({ length: 20 }, (_, i) => i),
  );
  const wide = await fiberfill.instantiate(
    assemble(wat({ more })),
    suspending(() => opened),
    { shadowStack: { regions: "grow", size } },
  );
  assert.equal(await wide.exports.deep(depth), depth);
  assert.deepEqual(fiberfill.fibers(), []);
});

test("a frame that reaches across the guard is noticed at the next wait and ends only fibers it hits", async () => {
  for (const regions of ["grow", "allocator"]) {
    const ends = [];
    const imports = suspending((v) => new Promise((end) => (ends[v] = end)));
    const more = regions === "grow" ? "" : malloc;
    const { exports } = await fiberfill.instantiate(assemble(wat({ more })), imports, { shadowStack: { regions } });
    const wait = (v, name, n = 0) => exports.keep.with({ name })(v, n);
    // Of regions that were given back the last is handed out first. So the large fiber gets the next to the highest of
    // four; in grown memory the first is the highest.
    const first = [0, 1, 2, 3].map((v) => wait(v));
    while (!ends[3]) await new Promise(setImmediate);
    for (const v of regions === "grow" ? [1, 3, 2, 0] : [2, 0, 1, 3]) {
      ends[v]();
      await first[v];
    }
    const settled = Promise.allSettled([
      wait(4, "above"),
      wait(5, "below"),
      wait(6, "far below"),
      wait(7, "large", 70000),
    ]);
    while (!ends[6]) await new Promise(setImmediate);
    for (const v of [4, 5, 6]) ends[v]();
    const [above, below, far, large] = await settled;
    assert.equal(ends[7], undefined, "its import was not called");
    assert.deepEqual([above.value, far.value], [4, 6]);
    assert.match(below.reason.message, /^fiber below lost its shadow stack: fiber large needs/);
    assert.match(large.reason.message, /65536 bytes it has, in export keep: at least 70016\. .* size: 262144 /);
    assert.deepEqual(fiberfill.fibers(), []);
  }
});

test("a region that was free when a large frame reached into its guard serves the next fiber", async () => {
  const ends = [];
  const { exports } = await fiberfill.instantiate(
    assemble(wat()),
    suspending((v) => new Promise((end) => (ends[v] = end))),
  );
  const three = async () => {
    ends.length = 0;
    const calls = [0, 1, 2].map((v) => exports.keep(v, 0));
    while (!ends[2]) await new Promise(setImmediate);
    for (const end of ends) end();
    assert.deepEqual(await Promise.all(calls), [0, 1, 2]);
  };
  await three();
  const below = 65536 + 192; // the distance between regions
  // The third region, given back last.
  await assert.rejects(exports.keep(3, 65536 + below - 32), { code: "region-overflow" });
  await three();
});

test("an overflow by functions with one local is noticed, wherever in the frame it lies", async () => {
  // small(n, at) goes n bytes deep, in frames of 16 bytes, and writes one word of each.
  const more = `(func (export "small") (param $n i32) (param $at i32) (local $end i32)
    (local.set $end (i32.sub (global.get $sp) (local.get $n)))
    (loop $again
      (local.set $n (i32.sub (local.get $n) (i32.const 16)))
      (i32.store (i32.add (i32.add (local.get $end) (local.get $n)) (local.get $at)) (i32.const 7))
      (br_if $again (local.get $n))))`;
  const { exports } = await fiberfill.instantiate(
    assemble(wat({ more })),
    suspending(async () => {}),
  );
  for (const at of [0, 4, 8, 12]) {
    await exports.small(65536 - 64, at);
    for (const deep of [65536 - 48, 65536])
      await assert.rejects(exports.small(deep, at), { code: "region-overflow" }, `${deep} ${at}`);
  }
});

test("bad choices are refused, each with a sentence", async () => {
  const refused = (shadowStack, message, text = wat()) =>
    assert.rejects(
      fiberfill.instantiate(
        assemble(text),
        suspending(() => {}),
        { shadowStack },
      ),
      (e) => e instanceof fiberfill.FiberError && message.test(e.message),
    );
  for (const size of [0, -16, 1000, 1024.5, NaN, Infinity, 2 ** 31, "65536", null, {}])
    await refused({ size }, /shadowStack.size/);
  await refused(
    { size: 2 ** 30, regions: "grow" },
    /no room for one more shadow stack of 1073741824 bytes/,
    wat({ memory: '(memory (export "memory") 2 16)' }),
  );
  await refused({ regions: "heap" }, /"allocator", "grow", "serial" or "copy", got "heap"/);
  await refused({ regions: "allocator" }, /exports no malloc/);
  await refused({ allocator: "nothing" }, /no function of this name/);
  await refused({ allocator: 5 }, /name of an export/);
  await refused({ pointer: "nothing" }, /exports no global of this name/);
  await refused({ pointer: 9 }, /no mutable i32 global with this index/);
  for (const pointer of [-1, 0.5, 2 ** 32, true]) await refused({ pointer }, /shadowStack.pointer/);
  await refused({ size: "65536" }, /got "65536"/);
  await refused({ size: NaN }, /got NaN/);
  for (const type of ["i32", "(mut i64)", "(mut f32)"]) {
    const more = `(global (export "other") ${type} (${type.match(/[if]\d+/)}.const 0))`;
    await refused({ pointer: "other" }, /"other", which is no mutable global/, wat({ more }));
  }
  await assert.rejects(
    fiberfill.instantiate(
      assemble(wat()),
      suspending(() => {}),
      5,
    ),
    { code: "bad-argument" },
  );
  for (const shadowStack of [5, "copy", () => {}]) await refused(shadowStack, /shadowStack is an object/);
  const empty = Object.create(null); // not even a string describes it
  for (const key of ["size", "regions", "pointer", "allocator"])
    await refused({ [key]: empty }, new RegExp(`shadowStack.${key}`));
});

test("a global is named by its index when the module is compiled, and by no other index later", async () => {
  const text = wat({ global: "(global $other (mut i32) (i32.const 0)) (global $sp (mut i32) (i32.const 65536))" });
  const imports = suspending(async () => {});
  const named = await fiberfill.compile(assemble(text), { shadowStack: { pointer: 1 } });
  for (const options of [undefined, { shadowStack: { pointer: 1 } }])
    assert.equal(await (await fiberfill.instantiate(named, imports, options)).exports.keep(5, 0), 5);
  const refused = { code: "bad-argument", message: /when the module is compiled/ };
  await assert.rejects(fiberfill.instantiate(named, imports, { shadowStack: { pointer: 0 } }), refused);
  const unnamed = await fiberfill.compile(assemble(text));
  await assert.rejects(fiberfill.instantiate(unnamed, imports, { shadowStack: { pointer: 1 } }), refused);
});

test("a guest without memory needs no stack in it", async () => {
  const text = `(module (import "env" "wait" (func $wait (param i32) (result i32)))
    (func (export "f") (param i32 i32) (result i32) (call $wait (local.get 0))))`;
  const { exports } = await fiberfill.instantiate(
    assemble(text),
    suspending(async (v) => v + 1),
  );
  assert.deepEqual(await Promise.all([exports.f(1, 0), exports.f(2, 0)]), [2, 3]);
  await assert.rejects(exports.f("text"), {
    code: "bad-argument",
    message: /fiberfill knows of no stack .* name its pointer by shadowStack\.pointer$/,
  });
});

// A plain call cannot wait, but its marked imports may answer at once.
for (const regions of ["copy", "grow"]) {
  test(`plain calls get their imports' answers, even while a fiber has been named: ${regions}`, async () => {
    const ends = [];
    const answer = (v) =>
      v > 0
        ? new Promise((end) => ends.push(end))
        : v === -2
          ? assert.fail("mine")
          : v === -3
            ? Promise.resolve()
            : undefined;
    const { exports, instance } = await fiberfill.instantiate(assemble(wat()), suspending(answer), {
      shadowStack: { regions },
    });
    const { keep } = instance.exports;
    const plain = () => assert.equal(keep(-1, 0), -1);
    plain();
    const calls = [1, 2, 3].map((v) => exports.keep(v, 0));
    while (ends.length < 3) await new Promise(setImmediate);
    plain();
    // A fiber that has been named goes on in a later microtask; this call's frames lie where the fiber's do.
    let between = 0;
    const stop = fiberfill.observe(({ state }) => state === "running" && queueMicrotask(() => (plain(), between++)));
    for (const end of ends) end();
    assert.deepEqual(await Promise.all(calls), [1, 2, 3]);
    stop();
    assert.equal(between, 3);
    assert.throws(() => keep(-2, 0), /mine/);
    assert.throws(() => keep(-3, 0), { code: "cannot-suspend" });
  });
}

test("an allocator that the module editor exports is not among the exports", async () => {
  const hidden = malloc.replace('(export "malloc")', "$malloc").replace('(export "free")', "$free");
  const bytes = assemble(wat({ more: hidden }), undefined, true);
  const { exports, stacks } = await fiberfill.instantiate(
    bytes,
    suspending(async () => {}),
  );
  assert.equal(stacks.source, "allocator");
  assert.deepEqual(Object.keys(exports).sort(), ["keep", "memory"]);
});

test("how stacks are kept can be seen: on the instance and on each fiber", async () => {
  const imports = suspending(async () => {});
  const grow = await fiberfill.instantiate(assemble(wat()), imports, { shadowStack: { size: 2048 } });
  assert.deepEqual(grow.stacks, { source: "grow", size: 2048, pointer: 0, why: undefined });
  const serial = await fiberfill.instantiate(assemble(wat({ memory: '(memory (export "memory") 2 2)' })), imports);
  assert.equal(serial.stacks.source, "serial");
  assert.equal(serial.stacks.size, undefined);
  assert.match(serial.stacks.why, /its memory cannot grow/);
  const call = serial.exports.keep(1, 0);
  assert.equal(fiberfill.fibers()[0].stacks, serial.stacks);
  await call;
});

test("an async function that is no marked import is refused, by name", async () => {
  const bytes = assemble(wat());
  await assert.rejects(fiberfill.instantiate(bytes, { env: { wait: async () => {} } }), {
    code: "bad-import",
    message: /fiberfill\.suspending: env\.wait/,
  });
  await fiberfill.instantiate(bytes, { env: { wait: () => Promise.resolve() } }); // nobody can tell
});

test("bytes for a call on the guest's own stack do not run over what lies below it", async () => {
  const global = "(global $sp (mut i32) (i32.const 131072))";
  const memory = '(memory (export "memory") 4) (data (i32.const 60000) "data")';
  const more = `(func (export "take") (param i32 i32) (result i32)
    (call $wait (i32.const 0)) (i32.load (i32.const 60000)))`;
  const { exports } = await fiberfill.instantiate(
    assemble(wat({ global, memory, more })),
    suspending(async () => {}),
    { shadowStack: { regions: "serial" } },
  );
  const data = await exports.take(new Uint8Array(60000));
  assert.equal(data, 0x61746164);
  await assert.rejects(exports.take(new Uint8Array(80000)), { code: "bad-argument", message: /do not fit/ });
  assert.equal(await exports.take(new Uint8Array(100)), data);
});
