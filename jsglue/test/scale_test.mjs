// Many fibers: at once, and one after another. Run over web/dist/npm in Node 26. `make test` runs fewer than the
// promised limits; CHURN=10000000 ATONCE=1000000 node --test jsglue/test/scale_test.mjs runs those, which takes a few
// minutes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { gc } from "./gc.mjs";

const CHURN = Number(process.env.CHURN ?? 100_000);
const ATONCE = Number(process.env.ATONCE ?? 50_000);

const bytes = readFileSync(new URL("../../examples/c-fetch/guest.wasm", import.meta.url));

async function guest() {
  const reason = { rejected: true };
  const { exports, instance } = await fiberfill.instantiate(bytes, {
    env: { fetch_text: fiberfill.suspending(() => Promise.reject(reason)), log() {} },
  });
  return { exports, instance, reason };
}

async function used() {
  for (let i = 0; i < 4; i++) {
    gc();
    await new Promise(setImmediate);
  }
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed / 2 ** 20, rss: rss / 2 ** 20 };
}

test(`${CHURN} fibers, one in 1,000 of which throws and one in 100,000 traps, leave memory where it was`, async (t) => {
  const { exports, instance, reason } = await guest();
  const count = { done: 0, threw: 0, trapped: 0 };
  const lane = async (i, end) => {
    for (; i < end; i += 1000) {
      try {
        if (i % 100_000 === 99_999) await exports.trap();
        else if (i % 1000 === 7) await exports.item("x");
        else await exports.yielding(1);
        count.done++;
      } catch (error) {
        if (error === reason) count.threw++;
        else if (error.code === "trap") count.trapped++;
        else throw error;
      }
    }
  };
  const run = (from, to) => Promise.all(Array.from({ length: 1000 }, (_, k) => lane(from + k, to)));
  await run(0, 100_000); // warm up: make stacks, tables and regions
  const before = await used();
  await run(100_000, 100_000 + CHURN);
  const after = await used();
  const all = 100_000 + CHURN;
  assert.deepEqual(count, { done: all - all / 1000 - all / 100_000, threw: all / 1000, trapped: all / 100_000 });
  t.diagnostic(
    `heap ${before.heap.toFixed(1)} -> ${after.heap.toFixed(1)} MiB, ` +
      `rss ${before.rss.toFixed(0)} -> ${after.rss.toFixed(0)} MiB`,
  );
  assert.ok(after.heap < before.heap + 2, "the heap has grown");
  assert.ok(after.rss < before.rss + 64, "the process has grown");
  assert.equal(instance.exports.memory.buffer.byteLength / 65536, 2 + 1003, "more regions than fibers at once");
  assert.deepEqual(fiberfill.fibers(), []);
});

test(`${ATONCE} fibers called at once, each of which waits once, all finish`, async (t) => {
  const { exports } = await guest();
  const calls = Array.from({ length: ATONCE }, () => exports.yielding(1));
  const { rss } = await used();
  let sum = 0;
  for (const call of calls) sum += await call;
  assert.equal(sum, ATONCE);
  t.diagnostic(`rss ${rss.toFixed(0)} MiB with all of them alive`);
  assert.ok(rss < 2048);
  assert.deepEqual(fiberfill.fibers(), []);
});

test(`${CHURN} names are forgotten with their fibers`, async () => {
  const { exports } = await guest();
  const wave = async (from) => {
    const calls = Array.from({ length: 1000 }, (_, i) =>
      exports.yielding.with({ name: `fiber number ${from + i}, which has a name of its own` })(1),
    );
    assert.equal(calls[999].name, `fiber number ${from + 999}, which has a name of its own`);
    await Promise.all(calls);
  };
  for (let i = 0; i < 50; i++) await wave(i * 1000);
  const before = await used();
  for (let i = 50; i < 50 + CHURN / 1000; i++) await wave(i * 1000);
  const after = await used();
  assert.ok(after.heap < before.heap + 2, `the heap has grown from ${before.heap} to ${after.heap} MiB`);
  assert.deepEqual(fiberfill.fibers(), []);
});
