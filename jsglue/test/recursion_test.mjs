// A recursion without an end runs through shadow stacks until the engine's own stack is full. Whatever it has written
// over never counts as sound: neither the stacks of fibers that wait, nor the guest's own data. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

// down(bytes, dense) recurses for ever with frames of so many bytes. It writes to each word of a dense frame, and to
// the first word of any other. keep() waits, and returns what it has kept on its stack. data() is a digest of the
// guest's own data, between its allocator's first address and its regions.
const text = (allocator) => `(module
  (import "fiberfill" "sleep_ms" (func $sleep (param i32)))
  (memory (export "memory") 64)
  (global $sp (mut i32) (i32.const 65536))
  (func (export "down") (param $bytes i32) (param $dense i32)
    (call $down (local.get $bytes) (local.get $dense)))
  (func $down (param $bytes i32) (param $dense i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (i32.sub (global.get $sp) (i32.const 16)) (local.get $bytes))))
    (if (local.get $dense)
      (then (memory.fill (local.get $frame) (i32.const 255) (local.get $bytes)))
      (else (i32.store (i32.add (local.get $frame) (local.get $bytes)) (i32.const -1))))
    (call $down (local.get $bytes) (local.get $dense))
    (global.set $sp (i32.add (i32.add (local.get $frame) (i32.const 16)) (local.get $bytes))))
  (func (export "keep") (param $mark i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get $mark))
    (call $sleep (i32.const 0))
    (call $sleep (i32.const 10))
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (i32.load (local.get $frame)))
  (func (export "data") (result i32) (local $at i32) (local $sum i32)
    (loop $next
      (local.set $sum (i32.add (local.get $sum) (i32.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 4000000))))
    (local.get $sum))
  ${allocator}
  (data (i32.const 3900000) "the guest's own"))`;
const malloc = `(global $next (mut i32) (i32.const 4000000))
  (func (export "malloc") (param $size i32) (result i32)
    (global.get $next) (global.set $next (i32.add (global.get $next) (local.get $size)))
    (drop (memory.grow (i32.const 2))))
  (func (export "free") (param i32))`;

const again = /; an overflow may have damaged the guest's data: make a new instance$/;

const instantiate = async (allocator) => (await fiberfill.instantiate(assemble(text(allocator)))).exports;

for (const [bytes, dense] of [
  [48, 1],
  [512, 1],
  [4080, 0],
])
  test(`frames of ${bytes} bytes over the guest's own data: the instance is refused`, async () => {
    const guest = await instantiate(malloc);
    const [keep, first] = [guest.keep(5), await guest.data()];
    assert.notEqual(first, 0);
    await assert.rejects(guest.down(bytes, dense), { code: "region-overflow", message: again });
    await assert.rejects(keep, { code: "region-overflow", message: again });
    for (const call of [guest.keep, guest.data])
      await assert.rejects(call(7), { code: "region-overflow", message: again.source.slice(2, -1) });
  });

test(`frames below the lowest address: the instance is refused`, async () => {
  for (const allocator of [malloc, ""]) {
    const guest = await instantiate(allocator);
    await assert.rejects(guest.down(8 << 20, 0), { code: "region-overflow", message: again });
    await assert.rejects(guest.data(), { code: "region-overflow" });
  }
});

// There is room for 64 MiB below the first region. Bun recurses 130,000 times before its own stack is full.
for (const [bytes, dense] of [
  [48, 1],
  [128, 1],
  [240, 0],
])
  test(`frames of ${bytes} bytes in grown memory: the guest and its other fibers go on`, async () => {
    const guest = await instantiate("");
    const [keep, before] = [guest.keep(5), await guest.data()];
    const error = await guest.down(bytes, dense).catch((error) => error);
    assert.equal(error.code, "region-overflow");
    assert.doesNotMatch(error.message, again);
    assert.equal(await keep, 5);
    assert.equal(await guest.keep(6), 6);
    assert.equal(await guest.data(), before);
  });

test("a trap on a stack of the guest's own, above its fiber's, is no overflow", async () => {
  const more = `(func (export "breaks") (global.set $sp (i32.add (global.get $sp) (i32.const 65536))) (unreachable))`;
  const guest = await instantiate(malloc + more);
  const keep = guest.keep(5);
  await guest.keep(6); // the next region lies above
  await assert.rejects(guest.breaks(), { code: "trap" });
  assert.equal(await keep, 5);
  assert.equal(await guest.keep(7), 7);
});
