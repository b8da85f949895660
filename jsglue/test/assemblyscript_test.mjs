// AssemblyScript programs, compiled as their users compile them. The collector looks for references on the program's
// one shadow stack; if it ran by itself, the program would lose objects that only a waiting fiber refers to.

import assert from "node:assert/strict";
import { test } from "node:test";
import asc from "assemblyscript/asc";
import { fibers, instantiate, suspending } from "../../web/dist/npm/esm/index.js";

const source = `
@external("env", "wait") declare function wait(x: i32): i32;
class Box { constructor(public v: i32) {} }
export function keep(v: i32): i32 {
  const own = new Box(v);
  const boxes: Box[] = [];
  for (let i = 0; i < 100; i++) boxes.push(new Box(i));
  const waited = wait(v);
  let sum = 0;
  for (let i = 0; i < 100; i++) sum += boxes[i].v;
  return own.v * 10000 + sum + waited;
}`;

async function compile(runtime) {
  let binary;
  const { error, stderr } = await asc.main(["a.ts", "--optimize", "--runtime", runtime, "--outFile", "a.wasm"], {
    readFile: (name) => (name === "a.ts" ? source : null),
    writeFile: (_, contents) => void (binary = contents),
    listFiles: () => [],
  });
  assert.ifError(error && new Error(`${error.message}\n${stderr}`));
  return binary;
}

for (const runtime of ["minimal", "stub"]) {
  test(`200 overlapping calls keep their objects: --runtime ${runtime}`, async () => {
    const waits = [];
    const abort = (...at) => assert.fail(`abort at ${at}`);
    const { exports } = await instantiate(await compile(runtime), {
      env: { abort, wait: suspending(() => new Promise((resolve) => waits.push(resolve))) },
    });
    const calls = Array.from({ length: 200 }, (_, i) => exports.keep(i));
    for (let left = 200; left > 0; await new Promise(setImmediate)) {
      for (const settle of waits.splice(0).reverse()) {
        settle(7);
        left--;
      }
    }
    assert.deepEqual(
      await Promise.all(calls),
      calls.map((_, i) => i * 10000 + 4950 + 7),
    );
    assert.deepEqual(fibers(), []);
  });
}

test("a program whose collector runs by itself is not accepted silently", async () => {
  await assert.rejects(
    instantiate(await compile("incremental"), { env: { abort() {}, wait: suspending(async () => 0) } }),
    { code: "bad-argument", message: /cannot tell which global/ },
  );
});
