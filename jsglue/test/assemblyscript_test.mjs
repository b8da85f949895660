// Programs in AssemblyScript, compiled as its users do. Its collector looks for references on the program's one shadow
// stack; a program whose collector runs by itself may lose what only a waiting fiber refers to, so its calls run one
// after another.

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

test("a program whose collector runs by itself, by what is on its one stack, serves one call at a time", async () => {
  const imports = { env: { abort() {}, wait: suspending(async (x) => x) } };
  const { exports, stacks } = await instantiate(await compile("incremental"), imports);
  assert.equal(stacks.source, "serial");
  const all = Array.from({ length: 20 }, (_, i) => i);
  assert.deepEqual(
    await Promise.all(all.map((v) => exports.keep(v))),
    all.map((v) => v * 10000 + 4950 + v),
  );
});
