// Guests with fibers of their own: the operations of the four proposals, as in include/fiberfill.h. Each operation
// appears at least once, in C (testdata/). The conformance suite, in e2e, checks them in every state.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { guest, instantiate, none, plainly } from "./proposals_guest.mjs";
import { rejection } from "./waiting_guest.mjs";

afterEach(() => {
  fiberfill.limits({ soft: 1000, hard: 4000 });
  assert.deepEqual(fiberfill.fibers(), [], "no fiber is left");
});

/** Calls refused(n) of an instance, and checks that the FiberError says this. */
async function refuses(g, n, ...words) {
  const fiber = g.exports.refused(n);
  const error = await rejection(fiber);
  assert.equal(error.code, "trap", String(error));
  assert.equal(error.fiber, fiber.name);
  for (const word of [`fiber ${fiber.name} trapped in export refused: `, ...words])
    assert.ok(error.message.includes(word), `${error.message}: no ${word}`);
}

describe("fibers v1", () => {
  test("A-NEW-1 A-RESUME-1 A-SUSPEND-1 A-RET-1: a generator, of which nothing is left", async () => {
    const g = await guest("fibers1");
    assert.equal(await g.exports.sum(100), 5050);
    none(g);
  });

  test("A-NEW-2 K-4: values of all types arrive as they were sent, without BigInt, and so do results", async () => {
    assert.equal(await (await guest("fibers1")).exports.values(), 0);
  });

  test("A-SPAWN-1 A-SPAWN-4: a fiber that starts at once and gets its own reference", async () => {
    assert.equal(await (await guest("fibers1")).exports.spawn(), 2);
  });

  for (const [how, got, trail] of [
    [0, 7, [1, 2, 7, 9, 3, 10]],
    [1, 8, [1, 2, 8, 3, 10]],
    [3, 9, [1, 2, 9]],
  ]) {
    test(`A-SWITCH-1 A-RETIRE-1 A-RETIRETO-1: switch, retire and retireto (${how})`, async () => {
      const g = await guest("fibers1");
      // With retireto the resume returns the results of the second fiber.
      assert.equal(await g.exports.switches(how), how === 3 ? -1 : got);
      assert.deepEqual(g.trail, how === 3 ? [1, 2, -1] : trail);
      none(g);
    });
  }

  test("suspended fibers survive their entry, are listed, and go on in a later one", async () => {
    const g = await guest("fibers1");
    await g.exports.keep(3);
    assert.deepEqual(
      g.fibers().map(({ name, state, started }) => [name, state, started]),
      [1, 2, 3].map((n) => [`fibers1 ${n}`, "suspended", true]),
    );
    assert.equal(await g.exports.more(1), 3);
    await g.exports.release(1);
    const error = await rejection(g.exports.more(1));
    assert.match(
      error.message,
      /^fiber more#\d+ trapped in export more: fibers1\.resume refused: .* moribund \[A-STATE-2\]: fiber \d+\. Note/,
    );
    assert.equal(await g.exports.more(0), 2, "the others are as they were");
    const [first] = g.fibers();
    for (const fiber of g.fibers()) fiber.release();
    first.release();
    assert.equal(first.state, "over");
    none(g);
  });

  test("10,000 generators one after another leave no fiber, no region and no stack", async () => {
    const g = await guest("fibers1");
    await g.exports.sums(10);
    const pages = g.instance.exports.memory.buffer.byteLength;
    assert.equal(await g.exports.sums(10000), 30000);
    assert.equal(g.instance.exports.memory.buffer.byteLength, pages);
    fiberfill.limits({ hard: 1, soft: 1 });
    assert.equal(await g.exports.sums(3), 9, "one stack serves one generator at a time: the others are free");
    none(g);
  });

  test("1,500 fibers are alive at once, and are gone in the end", async () => {
    const g = await guest("fibers1");
    await g.exports.keep(1500);
    assert.equal(g.fibers().length, 1500);
    assert.equal(await g.exports.more(1499), 1501);
    for (const fiber of g.fibers()) fiber.release();
    none(g);
    await g.exports.keep(1);
    g.fibers()[0].release();
  });

  test("a fiber beyond the limit of stacks is refused, and the limit is named", async () => {
    const g = await guest("fibers1");
    fiberfill.limits({ soft: 5, hard: 5 });
    const error = await rejection(g.exports.keep(6));
    assert.equal(error.code, "no-memory");
    assert.match(error.message, /5 have stacks, and the limit is 5.*limits\(\{ hard \}\)/);
    assert.equal(g.fibers().filter(({ started }) => started).length, 5);
    for (const fiber of g.fibers()) fiber.release();
    none(g);
  });

  test("A-EXC-1: an exception goes on in the parent and out of the entry, the same object", async () => {
    const g = await guest("fibers1");
    assert.equal(await rejection(g.exports.end(0)), g.errors[0]);
    assert.deepEqual(g.trail, []);
    none(g);
  });

  test("K-9: a trap ends the chain and the entry, and nothing else", async () => {
    const g = await guest("fibers1");
    await g.exports.keep(1);
    const fiber = g.exports.end(1);
    const error = await rejection(fiber);
    assert.equal(error.code, "trap");
    assert.match(error.message, /^fiber end#\d+ trapped in export end: unreachable/i);
    assert.ok(error.cause instanceof WebAssembly.RuntimeError);
    assert.equal(fiber.state, "failed");
    assert.deepEqual(g.trail, [], "no code has run");
    assert.equal(g.fibers().length, 1);
    assert.equal(await g.exports.more(0), 2);
    g.fibers()[0].release();
    assert.equal(await g.exports.sum(2), 3);
  });

  test("A-TYPE-1 A-HDL-7: results of wrong types, and an event without a handler", async () => {
    const g = await guest("fibers1");
    assert.match(
      (await rejection(g.exports.end(2))).message,
      /: fibers1\.return refused: wrong number or types of results \[A-TYPE-1\]: expected \(.*\), got \(.*\)\. Return/,
    );
    assert.match((await rejection(g.exports.end(4))).message, /: fibers1\.resume refused: .*\[.*\]: ./);
    assert.equal(g.fibers().length, 1);
    assert.deepEqual(
      g.fibers().map(({ state, started }) => [state, started]),
      [["suspended", false]],
    );
  });

  test("a fiber that overflows its region ends with that reason, and the fibers outside its chain go on", async () => {
    const g = await guest("fibers1");
    await g.exports.keep(1);
    const error = await rejection(g.exports.end(5));
    assert.equal(error.code, "region-overflow");
    none({ fibers: () => g.fibers().slice(1) });
    assert.equal(await g.exports.more(0), 2);
    g.fibers()[0].release();
  });

  test("an operation below a frame of JavaScript traps, whoever catches what", async () => {
    const g = await guest("fibers1");
    if (plainly) return assert.equal(await g.exports.host(), 1, "the stack of a plain call is never parked");
    const error = await rejection(g.exports.host());
    assert.equal(error.code, "trap");
    assert.match(
      error.message,
      /fibers1\.resume refused: host frames on the stack to be parked: Call by fiberfill's exports$/,
    );
    g.swallows = true;
    const again = await rejection(g.exports.host());
    assert.equal(again.message, error.message.replace(/host#\d+/, again.fiber));
    assert.ok(g.errors[0] instanceof WebAssembly.RuntimeError);
    assert.equal(await g.exports.sum(2), 3);
  });

  test("A-HDL-4: a block takes only a tag whose parameters are the last of its own", async () => {
    const raw = new URL("../../guest/testdata/raw_fibers1.wasm", import.meta.url);
    const { exports } = await instantiate(readFileSync(raw));
    const tag = await exports.tag(0x41); // of an i32 and an f64
    for (const block of [0x41, 0x412, 0x4121]) await exports.block(tag, block);
    for (const block of [0, 4, 0x14, 0x141, 0x241]) {
      const error = await rejection(exports.block(tag, block));
      assert.match(
        error.message,
        /fibers1\.block refused: .*values \[A-HDL-4\]: tag \d, expected \(.*\), got \(.*\)\. Send/,
      );
    }
  });

  const refused = [
    [0, "fibers1.resume refused: null reference [A-PARENT-3]"],
    [1, "fibers1.resume refused: unknown reference [K-7]"],
    [2, "fibers1.resume refused: fiber is moribund [A-STATE-2]"],
    [3, "fibers1.suspend refused: fiber is neither active nor an ancestor", "[A-SUSPEND-1]"],
    [4, "fibers1.resume refused: wrong number or types of values [K-4]"],
    [5, "fibers1.resume refused: receiver has no handler for the event [A-HDL-7]"],
    [6, "fibers1.resume refused: unknown tag [K-3]"],
    [7, "fibers1.resume refused: unknown tag [K-3]"],
    [8, "fibers1.new refused: there is no ff_body at 100000"],
    [9, "fibers1.new refused: there is no ff_body at 0"],
    [10, "fibers1.new refused: function", "is no ff_body"],
    [11, "fibers1.new refused: unknown tag [K-3]"],
    [12, "fibers1.resume refused: address 4294967280 is out of the memory's bounds"],
    [13, "fibers1.table refused: unknown tag [K-3]"],
    [14, "fibers1.table refused: address 4294967280 is out of the memory's bounds"],
    [15, "fibers1.block refused: wrong number or types of values [A-HDL-4]"],
    [16, "fibers1.release refused: fiber is moribund [A-STATE-2]"],
    [17, "fibers1.switch refused: fiber is neither active nor an ancestor", "[A-SWITCH-1]"],
    [18, "fibers1.retire refused: fiber is neither active nor an ancestor", "[A-RETIRE-1]"],
    [19, "fibers1.retireto refused: fiber is neither active nor an ancestor", "[A-RETIRETO-1]"],
  ];
  test("refused operations name themselves and the rule, and an instance goes on after each", async () => {
    const g = await guest("fibers1");
    for (const [n, ...words] of refused) await refuses(g, n, ...words);
    assert.equal(await g.exports.sum(2), 3);
  });
});

describe("fibers v2", () => {
  test("B-MOUNT-1 B-DISMOUNT-1 B-NEW-5: a generator whose return is an event", async () => {
    const g = await guest("fibers2");
    assert.equal(await g.exports.sum(4), 110);
    assert.equal(await g.exports.values(), 0);
    none(g);
  });

  test("B-EVT-2: an event that is not taken changes nothing", async () => {
    assert.equal(await (await guest("fibers2")).exports.falls(), 0);
  });

  for (const [how, value, trail] of [
    [0, 5, [1, -1, 1]],
    [1, 4, [1, 1, 1]],
    [2, 5, [1, 2, -1, 1]],
  ]) {
    test(`B-MNEW-1 B-DREL-1: mount_new and dismount_release (${how})`, async () => {
      const g = await guest("fibers2");
      assert.equal(await g.exports.mount_new(how), value);
      assert.deepEqual(g.trail, trail);
      none(g);
    });
  }

  for (const [how, trail] of [
    [0, [1, 2, 1, 9, 1]],
    [1, [1, 2, 1, 6, 1]],
  ]) {
    test(`B-SNEW-1 B-SREL-1: switch_new and switch_release (${how})`, async () => {
      const g = await guest("fibers2");
      await g.exports.switch_new(how);
      assert.deepEqual(g.trail, trail);
    });
  }

  test("B-SWITCH-1 B-RELEASE-1: switch; releasing again does nothing", async () => {
    const g = await guest("fibers2");
    assert.equal(await g.exports.switches(), 3);
    assert.deepEqual(g.trail, [2]);
    none(g);
  });

  test("refused operations name themselves and the rule", async () => {
    const g = await guest("fibers2");
    await refuses(g, 0, "fibers2.mount refused: null reference [K-2]");
    await refuses(g, 1, "fibers2.mount refused: fiber is moribund [B-STATE-1]");
    await refuses(g, 2, "fibers2.return refused: receiver has no handler for the event [B-NEW-6]");
    await refuses(g, 3, "fibers2.dismount refused:", "[B-DISMOUNT-1]");
    await refuses(g, 4, "fibers2.switch refused:", "[B-SWITCH-2]");
    await refuses(g, 5, "fibers2.release refused: null reference [B-RELEASE-5]");
    await refuses(g, 6, "fibers2.new refused: unknown tag [K-3]");
    await refuses(g, 7, "fibers2.mount_new refused: unknown tag [K-3]");
    await refuses(g, 8, "fibers2.switch_new refused:", "[B-SNEW-1]");
    await refuses(g, 9, "fibers2.dismount_release refused:", "[B-DISMOUNT-1]");
    await refuses(g, 10, "fibers2.switch_release refused:", "[B-SWITCH-2]");
    assert.equal(await g.exports.sum(4), 110);
  });
});

describe("coroutines by single-use references", () => {
  test("C-NEW-1 C-SWITCH-1 C-RETIRE-1 C-NEWREF-1: there and back", async () => {
    const g = await guest("stacks");
    assert.equal(await g.exports.new(0), 8);
    assert.equal(await g.exports.new(1), 8);
    assert.deepEqual(g.trail, [1, 7, 1, 7]);
    none(g);
  });

  test("C-BIND-1 C-BIND-4: values of all types, some of them bound in advance", async () => {
    const g = await guest("stacks");
    assert.equal(await g.exports.values(), 0);
    none(g);
  });

  test("C-SWITCH-2: three coroutines: the last one has the reference to the entry; the others wait on", async () => {
    const g = await guest("stacks");
    assert.equal(await g.exports.ring(), 0);
    assert.deepEqual(g.trail, [0, 1, 2]);
    assert.deepEqual(
      g.fibers().map(({ state }) => state),
      ["suspended", "suspended", "suspended"],
    );
    for (const fiber of g.fibers()) fiber.release();
    none(g);
  });

  test("C-RSW-1: a function that ends with return_switch returns what `then` returns", async () => {
    const g = await guest("stacks");
    assert.equal(await g.exports.return_switch(), 12);
    assert.deepEqual(g.trail, [1, 1, 2]);
  });

  for (const how of [0, 1]) {
    test(`C-THROW-1 C-RSW-2: an exception arrives where the target waits, the same object (${how})`, async () => {
      const g = await guest("stacks");
      assert.equal(await rejection(g.exports.throws(how)), g.errors[0]);
      assert.equal(g.errors[0].message, `failure ${5 + how}`);
      assert.deepEqual(g.trail, []);
      assert.equal(g.fibers().length, 1, "the thrower waits");
      g.fibers()[0].release();
      none(g);
    });
  }

  test("refused operations name themselves and the rule", async () => {
    const g = await guest("stacks");
    await refuses(g, 0, "stacks.switch refused: null reference [C-REF-3]");
    await refuses(g, 1, "stacks.switch refused: reference already consumed [C-REF-2]");
    await refuses(g, 2, "stacks.switch refused: wrong number or types of values [C-TYPE-4]");
    await refuses(g, 3, "stacks.switch_retire refused: wrong number or types of values [C-RETIRE-1]");
    await refuses(g, 4, "stacks.new_ref refused: null reference [C-NEWREF-1]");
    await refuses(g, 5, "stacks.new refused: there is no ff_body at 0");
    await refuses(g, 6, "stacks.bind refused: reference already consumed [C-BIND-3]");
    await refuses(g, 7, "stacks.switch_throw refused: exception left the coroutine function [C-EXC-1]");
    await refuses(g, 8, "stacks.return refused: coroutine function returned [C-RET-1]");
    await refuses(g, 9, "stacks.throw refused: exception left the coroutine function [C-EXC-1]");
    if (!plainly) await refuses(g, 10, "stacks.switch refused: host frames on the stack to be parked [C-SWITCH-7]");
    await refuses(g, 11, "stacks.return_switch refused: null reference [C-REF-3]");
    await refuses(g, 12, "stacks.switch_throw refused: there is no ff_raise at 0");
    assert.equal(await g.exports.new(0), 8);
    assert.ok(g.fibers().every(({ started }) => !started));
  });

  test("C-SWITCH-7: a raise that traps, where JavaScript catches that, leaves no JavaScript frame behind", async () => {
    const g = await guest("stacks");
    g.swallows = true;
    assert.equal(await g.exports.survives(), 8);
    assert.ok(g.errors[0] instanceof WebAssembly.RuntimeError);
    for (const fiber of g.fibers()) fiber.release();
  });
});

describe("cont", () => {
  test("D-NEW-1 D-RESUME-1 D-SUSPEND-1 D-BRON-1: questions and answers", async () => {
    const g = await guest("cont");
    assert.equal(await g.exports.sum(5), 10);
    assert.equal(await g.exports.values(), 0);
    none(g);
  });

  test("D-FILT-1 D-FILT-3: a filter function is called on the suspending side", async () => {
    const g = await guest("cont");
    assert.equal(await g.exports.filters(), 1 + 100 + 1000 + 100);
    assert.deepEqual(g.trail, [10, 11, 1, 12]);
  });

  test("D-FWD-1: what the inner resumer hands on reaches the outer one", async () => {
    const g = await guest("cont");
    assert.equal(await g.exports.forwards(), 101);
    none(g);
  });

  for (const started of [0, 1]) {
    test(`D-THROW-1 D-THROW-4: an exception enters a continuation, and leaves it (${started})`, async () => {
      const g = await guest("cont");
      assert.equal(await rejection(g.exports.throws(started)), g.errors[0]);
      assert.deepEqual(g.trail, []);
      none(g);
    });
  }

  test("refused operations name themselves and the rule", async () => {
    const g = await guest("cont");
    await refuses(g, 0, "cont.resume refused: null reference [D-RESUME-6]");
    await refuses(g, 1, "cont.resume refused: reference already consumed [D-RESUME-6]");
    await refuses(g, 2, "cont.resume refused: wrong number or types of values [D-SUSPEND-3]");
    await refuses(g, 3, "cont.resume refused: unknown tag [K-3]");
    await refuses(g, 4, "cont.new refused: null reference [D-NEW-1]");
    await refuses(g, 5, "cont.suspend refused: no enclosing continuation admits the event [D-SUSPEND-4]");
    await refuses(g, 6, "cont.suspend refused: unknown tag [K-3]");
    await refuses(g, 7, "cont.br_on_evt refused: null reference [K-2]");
    await refuses(g, 8, "cont.forward refused: null reference [D-FWD-5]");
    await refuses(g, 9, "cont.forward refused: no enclosing continuation admits the event [D-FWD-5]");
    await refuses(g, 10, "cont.throw refused: reference already consumed [D-ONE-1]");
    await refuses(g, 11, "cont.resume refused: function", "is no ff_admits");
    if (!plainly) await refuses(g, 12, "cont.resume refused: host frames on the stack to be parked");
    assert.equal(await g.exports.sum(5), 10);
    for (const fiber of g.fibers()) fiber.release();
  });
});
