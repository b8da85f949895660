// A Rust guest as cargo makes it, with the default options: testdata/rust.rs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { until } from "./waiting_guest.mjs";

const bytes = readFileSync(new URL("testdata/rust.wasm", import.meta.url));

/** An instance whose import writes to the caller's stack after a wait, as the order of ends wants it. */
async function guest() {
  const g = { waits: [], atOnce: false };
  const fill = async (at, length, seed) => {
    if (!g.atOnce) await new Promise((end) => g.waits.push(end));
    new Uint8Array(g.instance.exports.memory.buffer, at, length).fill(seed % 251);
    return seed;
  };
  return Object.assign(g, await fiberfill.instantiate(bytes, { env: { fill: fiberfill.suspending(fill) } }));
}

test(
  "a Rust guest without an exported allocator: 200 calls wait at once, their buffers are filled after " +
    "that, and all are right",
  async () => {
    const g = await guest();
    assert.deepEqual(g.stacks, { source: "grow", size: 65536, pointer: 0, why: undefined });
    const seeds = Array.from({ length: 200 }, (_, i) => i + 1);
    g.atOnce = true;
    const expected = [];
    for (const seed of seeds) expected.push(await g.exports.sum(seed));
    assert.ok(new Set(expected).size > 190, "the answers differ");
    g.atOnce = false;
    const calls = seeds.map((seed) => g.exports.sum(seed));
    await until(() => g.waits.length === 200);
    for (const end of g.waits.reverse()) end();
    assert.deepEqual(await Promise.all(calls), expected);
    assert.deepEqual(fiberfill.fibers(), []);
  },
);

test(
  "Rust's allocator grows memory between the growths for stacks, and neither takes what is the " + "other's",
  async () => {
    const g = await guest();
    const pages = () => g.instance.exports.memory.buffer.byteLength / 65536;
    const seeds = Array.from({ length: 30 }, (_, i) => 1000 * i);
    const alone = await guest();
    alone.atOnce = true;
    const expected = [];
    for (const seed of seeds) expected.push(await alone.exports.churn(seed, 600));
    const first = pages();
    // A batch of regions serves 1,000 calls; more than that are begun while the allocator grows.
    fiberfill.limits({ soft: 2000 });
    const churns = seeds.map((seed) => g.exports.churn(seed, 600));
    const waiting = Array.from({ length: 1100 }, (_, i) => g.exports.sum(i));
    const all = Promise.all(churns);
    let over = false;
    void all.finally(() => (over = true));
    await until(() => g.waits.length === 1130);
    const own = g.waits.splice(30);
    while (!over) {
      for (const end of g.waits.splice(0)) end();
      await new Promise(setImmediate);
    }
    assert.deepEqual(await all, expected);
    assert.ok(pages() > first + 1003, "a second batch of regions, and what the allocator has taken");
    for (const end of own) end();
    const sums = await Promise.all(waiting);
    alone.atOnce = true;
    for (const i of [0, 1, 500, 999, 1000, 1099]) assert.equal(sums[i], await alone.exports.sum(i));
    fiberfill.limits({ soft: 1000 });
    assert.deepEqual(fiberfill.fibers(), []);
  },
);
