// What guests with fibers of their own are refused for, in hand-written wasm: bad numbers, functions that do what they
// must not, and what a guest lacks. (What the operations do, and what the rules of their systems refuse, is in
// proposals_test.mjs.)

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { instantiate, none, plainly } from "./proposals_guest.mjs";
import { rejection } from "./waiting_guest.mjs";

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

describe("what operations refuse, in the same words as on wazero", () => {
  const folder = new URL("../../guest/testdata/", import.meta.url);
  for (const line of readFileSync(new URL("refusals.txt", folder), "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [system, script, want] = line.split(" | ");
    test(`${system} ${script}: ${want}`, async () => {
      const g = await instantiate(readFileSync(new URL(`raw_${system}.wasm`, folder)));
      const steps = script.split("; ");
      for (const [i, step] of steps.entries()) {
        const [operation, ...args] = step.split(" ");
        if (operation === "put") {
          const [at, tag, types, named] = args.map(BigInt);
          // plain calls take no number before the fiber does
          const ref = named - BigInt(plainly && i > 0 && named > 0n);
          const view = new DataView(g.instance.exports.memory.buffer, Number(at));
          view.setUint32(4, Number(BigInt.asUintN(32, tag)), true);
          view.setUint32(8, Number(types), true);
          view.setBigUint64(16, ref, true);
        } else if (i < steps.length - 1) {
          await g.exports[operation](...args.map(Number));
        } else {
          const error = await rejection(g.exports[operation](...args.map(Number)));
          assert.equal(error.code, "trap");
          const start = `fiber ${error.fiber} trapped in export ${operation}: `;
          assert.equal(error.message.slice(0, start.length), start);
          if (want === "unreachable") assert.match(error.message, /unreachable/i);
          else assert.equal(error.message.slice(start.length), want);
        }
      }
      for (const fiber of g.fibers()) {
        assert.equal(fiber.state, "suspended");
        fiber.release();
      }
      none(g);
    });
  }

  test("A-TYPE-1: and so is one that a function returns", async () => {
    const wat = `(module
      (import "fiberfill/fibers1" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (table (export "functions") 1 funcref)
      (elem (i32.const 0) $body)
      (func $body (param i32 i32 i32) (result i32) (i32.const 0x10))
      (func (export "go")
        (drop (call $spawn (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024) (i32.const 0)))))`;
    const g = await instantiate(assemble(wat));
    assert.match(
      (await rejection(g.exports.go())).message,
      /: fibers1\.return refused: not a list of types \[K-4\]: 4 bits each/,
    );
    none(g);
  });
});

describe("a raise or an admits function must not use the system or wait, as on wazero", () => {
  const wat = `(module
    (import "fiberfill/stacks" "new" (func $new (param i32 i32 i32 i32 i32)))
    (import "fiberfill/stacks" "switch_throw" (func $switch_throw (param i32 i32 i32 i32 i32)))
    (import "fiberfill" "sleep_ms" (func $sleep (param i32)))
    (memory (export "memory") 1)
    (tag $tag)
    (table (export "functions") 4 funcref)
    (elem (i32.const 0) $body $makes $waits $throws)
    (func $body (param i32 i32 i32) (result i32) (i32.const 0))
    (func $makes (param i32) (call $new (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 2048)))
    (func $waits (param i32) (call $sleep (i32.const 1)))
    (func $throws (param i32) (throw $tag))
    (func (export "go") (param $raise i32) (param $awaits i32)
      (call $switch_throw (i32.const 1024) (local.get $raise) (i32.const 0) (local.get $awaits) (i32.const 1))))`;
  for (const [raise, text, awaits = 0] of [
    [1, "stacks.new refused: it was called inside of the function that throws for stacks.switch_throw"],
    [2, "stacks.switch_throw refused: the function that throws for stacks.switch_throw must not wait"],
    [3, "stacks.switch_throw refused: not a list of types [K-4]: 4 bits each, 1 to 6, at most 8", 0x10],
  ]) {
    test(`C-THROW-1: ${text}`, async () => {
      const g = await instantiate(assemble(wat));
      const error = await rejection(g.exports.go(raise, awaits));
      assert.equal(error.code, "trap");
      assert.equal(error.message, `fiber ${error.fiber} trapped in export go: ${text}`);
      none(g);
      assert.ok((await rejection(g.exports.go(raise, awaits))).message.endsWith(text), "and again");
    });
  }

  test("D-THROW-1: it may throw any value, even a revoked Proxy, which cannot be inspected", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const wat = `(module
      (import "env" "throws" (func $throws))
      (import "fiberfill/cont" "new" (func $new (param i32 i32 i32 i32 i32)))
      (import "fiberfill/cont" "throw" (func $throw (param i32 i32 i32)))
      (memory (export "memory") 1)
      (table (export "functions") 2 funcref)
      (elem (i32.const 0) $body $raise)
      (func $body (param i32 i32 i32) (result i32) (i32.const 0))
      (func $raise (param i32) (call $throws))
      (func (export "go")
        (call $new (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024))
        (call $throw (i32.const 1024) (i32.const 1) (i32.const 0))))`;
    const g = await instantiate(assemble(wat), {
      env: {
        throws() {
          throw proxy;
        },
      },
    });
    const [error] = await g.exports.go().then(
      () => [],
      (error) => [error],
    );
    assert.ok(error === proxy);
    none(g);
  });

  describe("D-FILT-3: a filter runs as if called by the one that raises the event", () => {
    const file = new URL("../../guest/testdata/filters.wasm", import.meta.url);
    for (const [filter, want] of [
      [2, 5], // it throws, and the sender catches that
      [5, 1], // it admits
      [3, /: cont\.suspend refused: the filter of a resume, asked by cont\.suspend must not wait$/],
      [4, /trapped in export answered: unreachable/i],
    ]) {
      test(`${filter}`, async () => {
        const g = await instantiate(readFileSync(file));
        const fiber = g.exports.answered(filter);
        if (typeof want === "number") assert.equal(await fiber, want);
        else assert.match((await rejection(fiber)).message, want);
        none(g);
      });
    }

    test("K-4 is checked before the filter is called", async () => {
      const g = await instantiate(readFileSync(file));
      new Int32Array(g.instance.exports.memory.buffer)[(1024 + 8) / 4] = 1; // an i32, which the tag does not have
      assert.match(
        (await rejection(g.exports.answered(4))).message,
        /: cont\.suspend refused: wrong number or types of values \[K-4\]: tag \d, expected \(.*\), got \(.*\)\. Send/,
      );
      none(g);
    });

    for (const [name, even, trail] of [
      ["D-FWD-4: a forward's filter chooses among the later events", 0, 1232312],
      ["and sees the forwarded event, not the raised one", 1, 132132132],
    ]) {
      test(name, async () => {
        const g = await instantiate(readFileSync(file));
        assert.equal(await g.exports.forwarded(even), trail);
        none(g);
      });
    }
  });

  test("D-FILT-1: a filter", async () => {
    const { instance, exports } = await instantiate(
      readFileSync(new URL("../../guest/testdata/raw_cont.wasm", import.meta.url)),
    );
    const words = new Int32Array(instance.exports.memory.buffer);
    words[(508 + 4) / 4] = await exports.event(0, 0);
    const table = await exports.table(512, 1);
    await exports.new(0, 0, 7, 0, 2048);
    words[(1024 + 4) / 4] = 1;
    assert.match(
      (await rejection(exports.resume(2048, table, 6, 0))).message,
      /: cont\.table refused: it was called inside of the filter of a resume, asked by cont\.suspend$/,
    );
  });
});

describe("a fiber that cannot enter another for want of a stack ends, with all that left the chain with it", () => {
  const file = new URL("../../guest/testdata/no_stack.wasm", import.meta.url);
  for (const [how, what] of [
    "switch of the parent",
    "switch of the child",
    "retireto of the parent",
    "retireto of the child",
  ].entries()) {
    test(`K-9: ${what}`, async () => {
      const g = await instantiate(readFileSync(file));
      fiberfill.limits({ soft: 2, hard: 2 });
      const error = await rejection(g.exports.go(how));
      fiberfill.limits({ soft: 1000, hard: 4000 });
      assert.equal(error.code, "no-memory");
      none(g);
      await g.exports.go(how);
      for (const fiber of g.fibers()) fiber.release();
      none(g);
    });
  }
});

for (const name of ["go", "large", "returns"]) {
  test(`K-9: a stack that was too small is the reason given, even for an unwritten frame (${name})`, async () => {
    const g = await instantiate(readFileSync(new URL("../../guest/testdata/overflows.wasm", import.meta.url)));
    const error = await rejection(g.exports[name]());
    assert.equal(error.code, "region-overflow");
    assert.match(error.message, /needs more shadow stack than the 65536 bytes it has/);
    none(g);
  });
}

test("an allocator must not use the system: it runs in the middle of a jump", async () => {
  const file = new URL("../../guest/testdata/exits.wasm", import.meta.url);
  const g = await instantiate(readFileSync(file), { wasi_snapshot_preview1: { proc_exit() {} } });
  for (const again of [false, true]) {
    const error = await rejection(g.exports.wrong());
    assert.match(
      error.message,
      /: fibers1\.tag refused: it was called inside of the guest's malloc for a fiber's stack$/,
      again ? "and again" : "",
    );
    none(g);
  }
});

describe("what a guest needs", () => {
  const made = (text, imports) => instantiate(assemble(text), imports);
  const tag = `(import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))`;
  const table = `(table (export "functions") 1 funcref)`;
  const memory = `(memory (export "memory") 1)`;

  test("operations of two systems are refused, with both named", async () => {
    const error = await rejection(
      made(`(module ${tag} (import "fiberfill/cont" "suspend" (func (param i32))) ${table} ${memory})`),
    );
    assert.equal(error.code, "bad-guest");
    assert.match(error.message, /fiberfill\/fibers1 and from fiberfill\/cont/);
  });

  for (const [what, text, code, words] of [
    [
      "no table",
      `(module ${tag} ${memory})`,
      "bad-guest",
      /__indirect_function_table.*exports 0 tables.*--export-table/,
    ],
    [
      "two tables",
      `(module ${tag} ${memory} ${table} (table (export "more") 1 funcref))`,
      "bad-guest",
      /exports 2 tables/,
    ],
    ["no memory", `(module ${tag} ${table})`, "bad-guest", /memory/],
    [
      "no room for regions",
      `(module ${tag} ${table} (memory (export "memory") 1 1))`,
      "bad-guest",
      /no stacks .* its memory cannot grow/,
    ],
    [
      "an unknown operation",
      `(module (import "fiberfill/fibers1" "go" (func)) ${table} ${memory})`,
      "missing-import",
      /fiberfill\/fibers1\.go \(function\)/,
    ],
    [
      "an unknown system",
      `(module (import "fiberfill/fibers3" "tag" (func)) ${table} ${memory})`,
      "missing-import",
      /fiberfill\/fibers3\.tag/,
    ],
    [
      "a table of something else",
      `(module ${tag} ${memory} (table (export "functions") 1 externref))`,
      "bad-guest",
      /table/,
    ],
  ]) {
    test(what, async () => {
      const error = await rejection(made(text));
      assert.equal(error.code, code, String(error));
      assert.match(error.message, words);
    });
  }

  test("the import object's own functions take precedence", async () => {
    const { exports } = await made(`(module ${tag} (func (export "f") (result i32) (call 0 (i32.const 1))))`, {
      "fiberfill/fibers1": { tag: (n) => n + 1 },
    });
    assert.equal(await exports.f(), 2);
  });

  test("a guest without a stack pointer, with one table of another name, works", async () => {
    const { exports } = await made(`(module
      (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))
      (import "fiberfill/fibers1" "table" (func $table (param i32 i32) (result i32)))
      (import "fiberfill/fibers1" "new" (func $new (param i32 i32 i32 i32) (result i32)))
      (import "fiberfill/fibers1" "resume" (func $resume (param i32 i32 i32) (result i32)))
      (import "fiberfill/fibers1" "suspend" (func $suspend (param i32 i32 i32) (result i32)))
      (table (export "functions") 3 funcref) ${memory}
      (elem (i32.const 2) $body)
      (global $tag0 (mut i32) (i32.const 0))
      (global $on (mut i32) (i32.const 0))
      (func $body (param $self i32) (param $env i32) (param $e i32) (result i32)
        (i32.store offset=4 (local.get $e) (global.get $tag0))
        (drop (call $suspend (local.get $self) (local.get $e) (global.get $on)))
        (i32.store offset=24 (local.get $e) (i32.add (local.get $env) (i32.load offset=24 (local.get $e))))
        (i32.const 1))
      (func (export "f") (param $n i32) (result i32)
        (local $f i32)
        (global.set $tag0 (call $tag (i32.const 1)))
        (i32.store (i32.const 200) (global.get $tag0))
        (global.set $on (call $table (i32.const 200) (i32.const 1)))
        (local.set $f (call $new (i32.const 1) (global.get $on) (i32.const 2) (i32.const 5)))
        (i32.store offset=4 (i32.const 16) (global.get $tag0))
        (i32.store offset=8 (i32.const 16) (i32.const 1))
        (i32.store offset=24 (i32.const 16) (local.get $n))
        (drop (call $resume (local.get $f) (i32.const 16) (global.get $on)))
        (drop (call $resume (local.get $f) (i32.const 16) (global.get $on)))
        (i32.load offset=24 (i32.const 16))))`);
    assert.equal(await exports.f(37), 42);
  });
});

// body calls a function of another instance, which keeps its fiber in a frame and calls back; that suspends the fiber.
test("a fiber goes on only while its frames on another instance's stack are the lowest there", async () => {
  const guest = `(module
    (type $body (func (param i32 i32 i32) (result i32)))
    (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))
    (import "fiberfill/fibers1" "table" (func $table (param i32 i32) (result i32)))
    (import "fiberfill/fibers1" "new" (func $new (param i32 i32 i32 i32) (result i32)))
    (import "fiberfill/fibers1" "suspend" (func $suspend (param i32 i32 i32) (result i32)))
    (import "fiberfill/fibers1" "resume" (func $resume (param i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (table (export "functions") 3 funcref)
    (elem (i32.const 0) $body $back)
    (global $tag (mut i32) (i32.const 0))
    (global $on (mut i32) (i32.const 0))
    (func (export "init")
      (global.set $tag (call $tag (i32.const 0)))
      (i32.store (i32.const 2048) (global.get $tag))
      (global.set $on (call $table (i32.const 2048) (i32.const 1))))
    (func $body (param $self i32) (param $env i32) (param $event i32) (result i32)
      (call_indirect (type $body) (local.get $self) (local.get $env) (local.get $event) (i32.const 2)))
    (func $back (param $self i32) (param $env i32) (param $event i32) (result i32)
      (i32.store offset=4 (local.get $event) (global.get $tag))
      (drop (call $suspend (local.get $self) (local.get $event) (global.get $on)))
      (i32.const 0))
    (func (export "new") (param $env i32) (result i32)
      (call $new (i32.const 0) (global.get $on) (i32.const 0) (local.get $env)))
    (func $go (export "resume") (param i32)
      (i32.store (i32.const 1028) (global.get $tag))
      (drop (call $resume (local.get 0) (i32.const 1024) (global.get $on))))
    (func (export "both") (param $a i32) (param $b i32) (param $c i32) (param $d i32)
      (call $go (local.get $a)) (call $go (local.get $b)) (call $go (local.get $c)) (call $go (local.get $d))))`;
  const other = `(module
    (type $body (func (param i32 i32 i32) (result i32)))
    (import "guest" "functions" (table 3 funcref))
    (memory 1)
    (global $sp (mut i32) (i32.const 65536))
    (global $right (export "right") (mut i32) (i32.const 0))
    (elem (i32.const 2) func $middle)
    (func $middle (param $self i32) (param $env i32) (param $event i32) (result i32) (local $frame i32)
      (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
      (i32.store (local.get $frame) (local.get $self))
      (drop (call_indirect (type $body) (local.get $self) (local.get $env) (local.get $event) (i32.const 1)))
      (global.set $right (i32.add (global.get $right) (i32.and
        (i32.eq (global.get $sp) (local.get $frame)) (i32.eq (i32.load (local.get $frame)) (local.get $self)))))
      (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
      (i32.const 0)))`;
  const g = await instantiate(assemble(guest));
  const { instance } = await instantiate(assemble(other), { guest: g.instance.exports });
  const { right } = instance.exports;
  await g.exports.init();
  const two = async () => [await g.exports.new(0), await g.exports.new(0)];
  const [a, b] = await two();
  const refused = { code: "trap", message: /fibers1 \d+ has frames on the shadow stack of another instance/ };
  if (plainly) {
    await assert.rejects(g.exports.both(a, b, b, a), refused); // each operation of a plain call stands by itself
    for (const fiber of g.fibers()) fiber.release();
    return none(g);
  }
  await g.exports.both(a, b, b, a);
  assert.equal(right.value, 2);
  const [c, d] = await two();
  await assert.rejects(g.exports.both(c, d, c, d), refused);
  const [e] = await two();
  await g.exports.resume(e);
  await assert.rejects(g.exports.resume(e), refused); // its frames were on the stack of a call that is over
  const [f, h] = await two();
  await g.exports.both(f, f, h, h);
  assert.equal(right.value, 4);
  for (const fiber of g.fibers()) fiber.release();
  none(g);
});
