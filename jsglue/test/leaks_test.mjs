// A fiber that waits for a Promise that nobody can settle any more is reported by name, once, when the garbage
// collector has found out. That takes ten to twenty seconds, so this file has only one test.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";

import { fibers, instantiate, suspending } from "../../web/dist/npm/esm/index.js";
import { gc } from "./gc.mjs";

test("a fiber that awaits an unreachable Promise is reported by name; one that can go on is not", async () => {
  const held = Promise.withResolvers();
  const bytes = await readFile(new URL("../../bench/js/guest.wasm", import.meta.url));
  const { exports } = await instantiate(bytes, {
    env: { wait: suspending((id) => (id === 1 ? new Promise(() => {}) : held.promise)) },
  });
  const warnings = [];
  const { warn } = console;
  console.warn = (text) => warnings.push(text);
  try {
    const lost = exports.call.with({ name: "the lost one" })(1);
    const kept = exports.call.with({ name: "the kept one" })(2);
    for (const deadline = Date.now() + 60_000; warnings.length === 0 && Date.now() < deadline; await after(250)) gc();
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(warnings[0], /leaked\. Fiber the lost one, in export call, waits in import env\.wait /);
    assert.deepEqual(
      fibers()
        .map(({ name }) => name)
        .sort(),
      ["the kept one", "the lost one"],
    );
    held.resolve(7);
    assert.equal(await kept, 8);
    lost.release();
    await assert.rejects(lost, { code: "released" });
    assert.deepEqual(fibers(), []);
  } finally {
    console.warn = warn;
  }
});
