// What guests with fibers of their own are refused for, in hand-written wasm: bad numbers, functions that do what they
// must not, and what a guest lacks. (What the operations do, and refuse by the rules of their systems, is in
// proposals_test.mjs.)

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { none } from "./proposals_guest.mjs";
import { rejection } from "./waiting_guest.mjs";

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

describe("K-4: what is no list of types is refused by every operation that takes one, in the words of wazero", () => {
  // The exports of the guest are the operations; number 1 of its table is a function of a fiber. E is the address of an
  // event.
  const E = 1024;
  for (const [system, operation, ...args] of [
    ["fibers1", "tag", "types"],
    ["fibers1", "block", 0, "types"],
    ["fibers1", "new", "types", 0, 1, 0],
    ["fibers1", "spawn", "types", 1, 0, E, 0],
    ["fibers1", "suspend", 0, E, 0],
    ["fibers1", "resume", 0, E, 0],
    ["fibers1", "switch", 0, 0, E, 0],
    ["fibers1", "retire", 0, E],
    ["fibers1", "retireto", 0, 0, E],
    ["fibers2", "tag", "types"],
    ["fibers2", "mount", 0, E, 0],
    ["fibers2", "switch", 0, 0, E, 0],
    ["fibers2", "dismount", 0, E, 0],
    ["fibers2", "dismount_release", 0, E],
    ["fibers2", "switch_release", 0, 0, E],
    ["stacks", "new", "types", 1, 1, 0, E],
    ["stacks", "new_ref", "types", 1, 1, 0, E],
    ["stacks", "switch", E, 0, 1],
    ["stacks", "switch_retire", E],
    ["stacks", "bind", E],
    ["stacks", "return_switch", E, 0, 1],
    ["cont", "event", "types", 0],
    ["cont", "event", 0, "types"],
    ["cont", "new", "types", 0, 1, 0, E],
    ["cont", "new", 0, "types", 1, 0, E],
    ["cont", "resume", E, 0, 0, 0],
    ["cont", "suspend", E],
    ["cont", "forward", E, 0, 0, 0],
    ["cont", "br_on_evt", E, 0],
  ]) {
    test(`${system} ${operation} ${args.join(" ")}`, async () => {
      const file = new URL(`../../internal/guest/testdata/raw_${system}.wasm`, import.meta.url);
      for (const types of [0x7, 0x10, 0x101, 0xf0000000]) {
        const { instance, exports } = await fiberfill.instantiate(readFileSync(file));
        new DataView(instance.exports.memory.buffer).setUint32(E + 8, types, true);
        const error = await rejection(exports[operation](...args.map((arg) => (arg === "types" ? types | 0 : arg))));
        assert.equal(error.code, "trap");
        assert.equal(
          error.message,
          `fiber ${error.fiber} trapped in export ${operation}: ${system}.${operation} refused: 0x${types.toString(16)} is no list of types`,
        );
      }
    });
  }

  for (const operation of ["switch", "return_switch"]) {
    test(`stacks ${operation} that awaits it`, async () => {
      const { exports } = await fiberfill.instantiate(
        readFileSync(new URL("../../internal/guest/testdata/raw_stacks.wasm", import.meta.url)),
      );
      assert.match((await rejection(exports[operation](E, 0x10, 1))).message, /refused: 0x10 is no list of types$/);
    });
  }

  test("A-TYPE-1: and when a function returns it", async () => {
    const wat = `(module
      (import "fiberfill/fibers1" "spawn" (func $spawn (param i32 i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (table (export "functions") 1 funcref)
      (elem (i32.const 0) $body)
      (func $body (param i32 i32 i32) (result i32) (i32.const 0x10))
      (func (export "go") (drop (call $spawn (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 1024) (i32.const 0)))))`;
    const g = await fiberfill.instantiate(assemble(wat));
    assert.match((await rejection(g.exports.go())).message, /: fibers1\.return refused: 0x10 is no list of types$/);
    none(g);
  });
});

describe("a function that is there to throw, or to choose, must not use the system or wait, as on wazero", () => {
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
    [3, "stacks.switch_throw refused: 0x10 is no list of types", 0x10],
  ]) {
    test(`C-THROW-1: ${text}`, async () => {
      const g = await fiberfill.instantiate(assemble(wat));
      const error = await rejection(g.exports.go(raise, awaits));
      assert.equal(error.code, "trap");
      assert.equal(error.message, `fiber ${error.fiber} trapped in export go: ${text}`);
      none(g);
      assert.ok((await rejection(g.exports.go(raise, awaits))).message.endsWith(text), "and again");
    });
  }

  test("D-THROW-1: what it throws is any value, a revoked Proxy too, which nobody can look at", async () => {
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
    const g = await fiberfill.instantiate(assemble(wat), {
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

  describe("D-FILT-3: a filter is called as if by who raises the event", () => {
    const file = new URL("../../internal/guest/testdata/filters.wasm", import.meta.url);
    for (const [filter, want] of [
      [2, 5], // it throws, and the sender catches that
      [5, 1], // it admits
      [3, /: cont\.suspend refused: the filter of a resume, asked by cont\.suspend must not wait$/],
      [4, /trapped in export answered: unreachable/],
    ]) {
      test(`${filter}`, async () => {
        const g = await fiberfill.instantiate(readFileSync(file));
        const fiber = g.exports.answered(filter);
        if (typeof want === "number") assert.equal(await fiber, want);
        else assert.match((await rejection(fiber)).message, want);
        none(g);
      });
    }

    test("K-4 is looked at before it is asked", async () => {
      const g = await fiberfill.instantiate(readFileSync(file));
      new Int32Array(g.instance.exports.memory.buffer)[(1024 + 8) / 4] = 1; // an i32, which the tag does not have
      assert.match(
        (await rejection(g.exports.answered(4))).message,
        /: cont\.suspend refused: wrong number or types of values \[K-4\]$/,
      );
      none(g);
    });

    for (const [name, even, trail] of [
      ["D-FWD-4: that of a forward chooses among the later events", 0, 1232312],
      ["and sees what is forwarded, and not what was raised", 1, 132132132],
    ]) {
      test(name, async () => {
        const g = await fiberfill.instantiate(readFileSync(file));
        assert.equal(await g.exports.forwarded(even), trail);
        none(g);
      });
    }
  });

  test("D-FILT-1: a filter", async () => {
    const { instance, exports } = await fiberfill.instantiate(
      readFileSync(new URL("../../internal/guest/testdata/raw_cont.wasm", import.meta.url)),
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

describe("an event out of bounds, and a function that there is not, are refused before anything has happened", () => {
  const E = 1024;
  const OUT = 300000;
  for (const [words, ...calls] of [
    [
      "address 300000 is out of the memory's bounds",
      ["fibers1", "spawn", 0, 1, 0, OUT, 0],
      ["fibers1", "resume", 0, OUT, 0],
      ["fibers2", "mount_new", 1, 0, OUT, 0],
      ["fibers2", "switch_new", 0, 1, 0, OUT, 0],
      ["stacks", "new", 0, 1, 1, 0, OUT],
      ["stacks", "new_ref", 0, 1, 1, 0, OUT],
      ["stacks", "switch_throw", OUT, 3, 0, 0, 1],
      ["stacks", "bind", OUT],
      ["cont", "new", 0, 0, 1, 0, OUT],
      ["cont", "resume", OUT, 0, 0, 0],
      ["cont", "throw", OUT, 3, 0],
    ],
    [
      "there is no ff_body at 9 in the guest's table",
      ["fibers1", "spawn", 0, 9, 0, E, 0],
      ["fibers1", "new", 0, 0, 9, 0],
      ["fibers2", "mount_new", 9, 0, E, 0],
      ["fibers2", "switch_new", 0, 9, 0, E, 0],
      ["stacks", "new", 0, 1, 9, 0, E],
    ],
    ["function 2 is no ff_body", ["stacks", "new_ref", 0, 1, 2, 0, E], ["cont", "new", 0, 0, 2, 0, E]],
    [
      "there is no ff_raise at 9 in the guest's table",
      ["stacks", "switch_throw", E, 9, 0, 0, 1],
      ["cont", "throw", E, 9, 0],
    ],
    [
      "there is no ff_admits at 9 in the guest's table",
      ["cont", "resume", E, 0, 9, 0],
      ["cont", "forward", E, 0, 9, 0],
    ],
  ]) {
    for (const [system, operation, ...args] of calls) {
      test(`${system} ${operation} ${args.join(" ")}: ${words}`, async () => {
        const g = await fiberfill.instantiate(
          readFileSync(new URL(`../../internal/guest/testdata/raw_${system}.wasm`, import.meta.url)),
        );
        const error = await rejection(g.exports[operation](...args));
        assert.equal(error.code, "trap");
        assert.ok(error.message.endsWith(`: ${system}.${operation} refused: ${words}`), error.message);
        none(g);
      });
    }
  }
});

describe("who cannot enter a fiber for want of a stack ends, with all that it has just been taken out of the chain with", () => {
  // root > parent > child, who lets a third fiber take the place of its parent's or its own.
  const wat = `(module
    (import "fiberfill/fibers1" "tag" (func $tag (param i32) (result i32)))
    (import "fiberfill/fibers1" "table" (func $table (param i32 i32) (result i32)))
    (import "fiberfill/fibers1" "new" (func $new (param i32 i32 i32 i32) (result i32)))
    (import "fiberfill/fibers1" "resume" (func $resume (param i32 i32 i32) (result i32)))
    (import "fiberfill/fibers1" "switch" (func $switch (param i32 i32 i32 i32) (result i32)))
    (import "fiberfill/fibers1" "retireto" (func $retireto (param i32 i32 i32)))
    (memory (export "memory") 1)
    (table (export "functions") 3 funcref)
    (elem (i32.const 0) $parent $child $third)
    (global $on (mut i32) (i32.const 0))
    (global $leaves (mut i32) (i32.const 0))
    (func $made (param $body i32) (param $env i32) (result i32) (call $new (i32.const 0) (global.get $on) (local.get $body) (local.get $env)))
    (func $enter (param $f i32) (param $e i32)
      (i32.store offset=4 (local.get $e) (i32.const 1))
      (drop (call $resume (local.get $f) (local.get $e) (global.get $on))))
    (func $parent (param $self i32) (param $how i32) (param $e i32) (result i32)
      (global.set $leaves (local.get $self))
      (call $enter (call $made (i32.const 1) (local.get $how)) (i32.const 2048))
      (i32.const 0))
    (func $child (param $self i32) (param $how i32) (param $e i32) (result i32)
      (if (i32.and (local.get $how) (i32.const 1)) (then (global.set $leaves (local.get $self))))
      (i32.store offset=4 (i32.const 4096) (i32.const 1))
      (if (i32.and (local.get $how) (i32.const 2))
        (then (call $retireto (global.get $leaves) (call $made (i32.const 2) (i32.const 0)) (i32.const 4096)))
        (else (drop (call $switch (global.get $leaves) (call $made (i32.const 2) (i32.const 0)) (i32.const 4096) (global.get $on)))))
      (i32.const 0))
    (func $third (param i32 i32 i32) (result i32) (i32.const 0))
    (func (export "go") (param $how i32)
      (if (i32.eqz (global.get $on)) (then
        (i32.store (i32.const 512) (call $tag (i32.const 0)))
        (global.set $on (call $table (i32.const 512) (i32.const 1)))))
      (call $enter (call $made (i32.const 0) (local.get $how)) (i32.const 1024))))`;
  for (const [how, what] of [
    "switch of the parent",
    "switch of the child",
    "retireto of the parent",
    "retireto of the child",
  ].entries()) {
    test(`K-9: ${what}`, async () => {
      const g = await fiberfill.instantiate(assemble(wat));
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
  test(`K-9: a stack that has been too small is the reason that is told, also for a frame of which nothing has been written (${name})`, async () => {
    const g = await fiberfill.instantiate(
      readFileSync(new URL("../../internal/guest/testdata/overflows.wasm", import.meta.url)),
    );
    const error = await rejection(g.exports[name]());
    assert.equal(error.code, "region-overflow");
    assert.match(error.message, /needs more shadow stack than the 65536 bytes it has/);
    none(g);
  });
}

test("an allocator must not use the system: it runs in the middle of a jump", async () => {
  const file = new URL("../../internal/guest/testdata/exits.wasm", import.meta.url);
  const g = await fiberfill.instantiate(readFileSync(file), { wasi_snapshot_preview1: { proc_exit() {} } });
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

describe("an event of cont that has been written over is none, for those that take one", () => {
  for (const [operation, ...args] of [
    ["forward", 0, 0, 0],
    ["br_on_evt", 1],
  ]) {
    for (const [tag, types, words] of [
      [9, 0, "tag of another machine [K-3]"],
      [1, 1, "wrong number or types of values [K-4]"],
    ]) {
      test(`${operation}: ${words}`, async () => {
        const { instance, exports } = await fiberfill.instantiate(
          readFileSync(new URL("../../internal/guest/testdata/raw_cont.wasm", import.meta.url)),
        );
        assert.equal(await exports.event(0, 0), 1);
        new Int32Array(instance.exports.memory.buffer, 1024).set([tag, types], 1);
        const error = await rejection(exports[operation](1024, ...args));
        assert.ok(error.message.endsWith(`: cont.${operation} refused: ${words}`), error.message);
      });
    }
  }
});

describe("what a guest needs", () => {
  const instantiate = (text, imports) => fiberfill.instantiate(assemble(text), imports);
  const tag = `(import "fiberfill/fibers1" "tag" (func (param i32) (result i32)))`;
  const table = `(table (export "functions") 1 funcref)`;
  const memory = `(memory (export "memory") 1)`;

  test("operations of two systems are refused, with both named", async () => {
    const error = await rejection(
      instantiate(`(module ${tag} (import "fiberfill/cont" "suspend" (func (param i32))) ${table} ${memory})`),
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
    ["no room for regions", `(module ${tag} ${table} (memory (export "memory") 1 1))`, "bad-guest", /no room/],
    [
      "an operation that there is not",
      `(module (import "fiberfill/fibers1" "go" (func)) ${table} ${memory})`,
      "missing-import",
      /fiberfill\/fibers1\.go \(function\)/,
    ],
    [
      "a system that there is not",
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
      const error = await rejection(instantiate(text));
      assert.equal(error.code, code, String(error));
      assert.match(error.message, words);
    });
  }

  test("what the import object has itself goes first", async () => {
    const { exports } = await instantiate(`(module ${tag} (func (export "f") (result i32) (call 0 (i32.const 1))))`, {
      "fiberfill/fibers1": { tag: (n) => n + 1 },
    });
    assert.equal(await exports.f(), 2);
  });

  test("a guest without a stack pointer, with one table of another name, in its own words", async () => {
    const { exports } = await instantiate(`(module
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
