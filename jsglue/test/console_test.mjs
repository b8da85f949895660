// What people see of fibers on a console, and in a thread about a bug. Run over web/dist/npm.

import assert from "node:assert/strict";
import { Console } from "node:console";
import { Writable } from "node:stream";
import { test } from "node:test";
import { inspect } from "node:util";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

const text = `(module (import "env" "wait" (func $wait)) (func (export "run") (call $wait)))`;
const ends = [];
const wait = fiberfill.suspending(() => new Promise((end) => ends.push(end)));
const { exports } = await fiberfill.instantiate(assemble(text), { env: { wait } });

/** Two fibers that wait. */
async function waiting() {
  const calls = [exports.run(), exports.run.with({ name: "second" })()];
  while (ends.length < 2) await new Promise(setImmediate);
  return calls;
}

async function end(calls) {
  ends.splice(0).forEach((end) => end());
  await Promise.all(calls);
}

test("a fiber is printed with its name, its state, what it waits for, and for how long", async () => {
  const calls = await waiting();
  assert.match(inspect(calls[1]), /^Fiber \{ name: 'second', state: 'waiting', waitsFor: 'env\.wait', ms: \d+ \}$/);
  assert.match(inspect({ calls }), /Fiber \{ name: 'run#\d+', state: 'waiting'/);
  await end(calls);
  assert.match(inspect(calls[1]), /^Fiber \{ name: 'second', state: 'done', ms: \d+ \}$/);
});

test("console.table shows the list of fibers", async () => {
  const calls = await waiting();
  let printed = "";
  const stdout = new Writable({ write: (chunk, _, done) => ((printed += chunk), done()) });
  new Console({ stdout }).table(fiberfill.fibers());
  assert.match(printed, /name +│ state +│ waitsFor +│ ms/);
  assert.match(printed, /'second' +│ 'waiting' │ 'env\.wait' │ \d+/);
  await end(calls);
  assert.deepEqual(Object.keys(calls[1]), ["name", "state", "waitsFor", "ms"]);
  assert.equal(calls[1].state, "done");
});

test("limits without an argument tells them, and with one returns what they are then", () => {
  assert.deepEqual(fiberfill.limits(), { soft: 1000, hard: 4000 });
  assert.deepEqual(fiberfill.limits({ soft: 5000 }), { soft: 5000, hard: 5000 });
  assert.deepEqual(fiberfill.limits(), { soft: 5000, hard: 5000 });
  assert.deepEqual(fiberfill.limits({ soft: 1000, hard: 4000 }), { soft: 1000, hard: 4000 });
});

test("report tells the version, the engine, the stacks, the limits and the fibers", async () => {
  const calls = await waiting();
  const [version, engine, stacks, limits, count, ...list] = (await fiberfill.report()).split("\n");
  assert.match(version, /^fiberfill \d+\.\d+\.\d+$/);
  assert.equal(engine, `engine: Node ${process.versions.node}, V8 ${process.versions.v8}`);
  assert.equal(stacks, "stacks: the engine's (JSPI)");
  assert.equal(limits, "limits: soft 1000, hard 4000");
  assert.equal(count, "fibers: 2");
  assert.match(list[1], /^ {2}second: waiting in env\.wait for \d+ ms; shadow stacks: none$/);
  await end(calls);
  const many = Array.from({ length: 150 }, () => exports.run());
  while (ends.length < 150) await new Promise(setImmediate);
  assert.match(await fiberfill.report(), /\n {2}and 50 more$/);
  await end(many);
});

test("a fiber that has been frozen is listed as well", async () => {
  const calls = await waiting();
  for (const call of calls) Object.freeze(call);
  assert.deepEqual(new Set(fiberfill.fibers()), new Set(calls));
  await end(calls);
});
