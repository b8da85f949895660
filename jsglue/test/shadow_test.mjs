// The table of cases for shadow stacks, internal/shadow/testdata/cases.mjs, played in the page: by calls, in the
// namespace for JSPI, and by actors. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { cases, text } from "../../internal/shadow/testdata/cases.mjs";
import * as actors from "../../web/dist/npm/esm/actors.js";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { WebAssembly as shaped } from "../../web/dist/npm/esm/webassembly.js";
import { world } from "./actors_world.mjs";
import { assemble } from "./assemble.mjs";

const file = new URL("../../internal/shadow/testdata/cases.json", import.meta.url);
const played = cases.map(({ guest, ...rest }) => ({
  ...rest,
  wasm: assemble(text(guest, false), [], true),
  handler: rest.actor && assemble(text(guest, true), [], true),
}));

test("the hosts in Go play this table", () => {
  const base64 = (bytes) => bytes && Buffer.from(bytes).toString("base64");
  const list = played.map((each) => ({ ...each, wasm: base64(each.wasm), handler: base64(each.handler) }));
  const json = JSON.stringify(list, undefined, 1) + "\n";
  if (process.env.UPDATE) writeFileSync(file, json);
  assert.equal(readFileSync(file, "utf8"), json, "run this file with UPDATE=1");
});

const owners = () => ({
  memory: new WebAssembly.Memory({ initial: 2 }),
  __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, 65536),
});

const told = [];
console.warn = (text) => told.push(text);

const damaged = "an overflow may have damaged the guest's data: make a new instance";
const codes = { refused: ["bad-argument", "bad-guest"], "no room": ["no-memory"] };
const refused = (why) => (error) => error instanceof fiberfill.FiberError && codes[why].includes(error.code);

/** Plays what is wanted of calls. */
async function calls(wasm, choose, want) {
  const instantiate = () => fiberfill.instantiate(wasm, { env: owners() }, { shadowStack: choose });
  if (want === "refused") return assert.rejects(instantiate, refused(want));
  if (want === "no room") return assert.rejects((await instantiate()).exports.keep(1, 32), refused(want));
  const before = told.length;
  const { exports, instance, stacks } = await instantiate();
  assert.deepEqual([stacks.source, stacks.size ?? 0, stacks.why ?? ""], [want.source, want.size, want.why]);
  const marks = [1, 2, 3, 4, 5];
  assert.deepEqual(await Promise.all(marks.map((mark) => exports.keep(mark, 64 * mark))), marks);
  const once = want.source === "serial" && choose.regions !== "serial" ? 1 : 0;
  assert.equal(told.length - before, once, "told on the console");
  assert.equal(instance.exports.calls.value, want.source === "allocator" ? 5 : 0, "calls of the allocator");
  for (const [bytes, dead, spoilt] of want.ends) {
    const { exports } = await instantiate();
    // In grown memory the first regions are the highest. Of free ones the one that was freed last is the first.
    if (want.source === "grow") await Promise.all([1, 2, 3].map((mark) => exports.keep(mark, 64)));
    const three = { keep: exports.keep(9, 64), deep: exports.keep(8, bytes), far: exports.keep(6, 64) };
    const ended = await Promise.allSettled(Object.values(three));
    const failed = Object.keys(three).filter((_, i) => ended[i].status === "rejected");
    assert.deepEqual(failed.sort(), dead, `a frame of ${bytes} bytes`);
    for (const { status, reason, value } of ended)
      assert.equal(
        status === "rejected" ? reason.code : value > 0 && "right",
        status === "rejected" ? "region-overflow" : "right",
      );
    const afterwards = await exports.keep(5, 64).catch(({ code, message }) => `${code}: ${message}`);
    assert.equal(afterwards, spoilt ? `region-overflow: ${damaged}` : 5, "afterwards");
  }
  if (!want.roam) return;
  const roams = exports.roam();
  if (want.roam === "lives") return assert.equal(await roams, 1);
  await assert.rejects(roams, { code: "region-overflow" });
  await assert.rejects(exports.keep(1, 64), { code: "region-overflow", message: damaged });
}

/** Plays what is wanted in the namespace for JSPI. */
async function jspi(wasm, choose, source) {
  const sleep = new shaped.Suspending(async () => {});
  const imports = { fiberfill: { sleep_ms: sleep }, env: owners() };
  const { instance } = await shaped.instantiate(wasm, imports, { shadowStack: choose });
  const keep = shaped.promising(instance.exports.keep);
  const fiber = keep(4, 64);
  assert.equal(fiber.stacks.source, source);
  assert.equal(await fiber, 4);
  if (source === "none") return; // overlapping calls share the stack, as on raw JSPI
  assert.deepEqual(await Promise.all([1, 2, 3].map((mark) => keep(mark, 64))), [1, 2, 3]);
}

/** Plays what is wanted of an actor. */
async function actor(wasm, want) {
  let allocated = 0;
  const sleep_ms = async (host, n) => {
    allocated = n;
    await host.sleepMs(1);
  };
  const module = await actors.compileActor(wasm, { imports: { sleep_ms } });
  const { runtime, ended, from, steps } = await world();
  const spawn = () => runtime.spawn(module, { stack: 32768 });
  if (want === "refused")
    return assert.throws(spawn, (error) => error instanceof actors.ActorError && error.code === "no-memory");
  const play = async (type) => {
    const id = spawn();
    from(id, type);
    await steps(8);
    return ended.get(id);
  };
  for (const [bytes, dead] of want.ends)
    assert.equal((await play(bytes))?.code, dead[0] && "stack-overflow", `${bytes}`);
  assert.equal(allocated, want.allocated ? 1 : 0, "calls of the allocator");
  if (want.roam) assert.equal((await play(0))?.code, want.roam === "dies" ? "stack-overflow" : undefined);
  runtime.close();
}

for (const { name, wasm, handler, choose = {}, ...want } of played) {
  test(name, async () => {
    if (want.calls ?? want.page) await calls(wasm, choose, want.calls ?? want.page);
    if (want.jspi) await jspi(wasm, choose, want.jspi);
    if (want.actor) await actor(handler, want.actor);
  });
}
