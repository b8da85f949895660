// Large modules: how much memory compile takes beside them, and which bytes it compiles. Run over web/dist/npm in Node
// 26.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";

/** Encodes a number as wasm does. */
const leb = (n) => (n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...leb(n >>> 7)]);
const section = (id, contents) => [id, ...leb(contents.length), ...contents];
const name = (text) => [...leb(text.length), ...Buffer.from(text)];

/**
 * A module with a stack pointer, one export, f, which returns 7, and this many bytes of code. It exports the other two
 * on demand.
 */
function moduleOf(size, exported = []) {
  const frames = Buffer.alloc(60_000, Buffer.from([0x23, 0, 0x41, 16, 0x6b, 0x1a])); // the pointer less 16, dropped
  const body = Buffer.from([0, ...frames, 0x41, 7, 0x0b]);
  const one = Buffer.concat([Buffer.from(leb(body.length)), body]);
  const count = Math.ceil(size / one.length);
  const exports = [[...name("f"), 0, 0], ...exported.map(([text, kind]) => [...name(text), kind, 0])];
  const code = [...leb(count)];
  return new Uint8Array(
    Buffer.concat([
      Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
      Buffer.from(section(1, [1, 0x60, 0, 1, 0x7f])),
      Buffer.from(section(3, [...leb(count), ...Array(count).fill(0)])),
      Buffer.from(section(5, [1, 0, 1])),
      Buffer.from(section(6, [1, 0x7f, 1, 0x41, ...[0x80, 0x80, 0x04], 0x0b])), // 65536
      Buffer.from(section(7, [...leb(exports.length), ...exports.flat()])),
      Buffer.from([10, ...leb(code.length + count * one.length), ...code]),
      ...Array(count).fill(one),
    ]),
  );
}

const both = [
  ["memory", 2],
  ["__stack_pointer", 3],
];

test("compile takes twice a module's size: the copy that it reads, and the platform's", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "large-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "large.wasm");
  const child = `
    import { readFileSync } from "node:fs";
    import { compile } from ${JSON.stringify(new URL("../../web/dist/npm/esm/index.js", import.meta.url))};
    const bytes = readFileSync(${JSON.stringify(path)});
    const before = process.resourceUsage().maxRSS;
    await compile(bytes);
    console.log(((process.resourceUsage().maxRSS - before) * 1024) / bytes.length);`;
  for (const [what, exported] of [
    ["edited", []],
    ["as it is", both],
  ]) {
    writeFileSync(path, moduleOf(40e6, exported));
    const times = Number(execFileSync(process.execPath, ["--input-type=module", "-e", child]));
    t.diagnostic(`${what}: ${times.toFixed(2)} times`);
    assert.ok(times > 1.5 && times < 2.7, `${what}: ${times} times`);
  }
});

test("a module has the bytes as of the call of compile, even those of a shared buffer", async () => {
  for (const size of [1, 2e6]) {
    for (const exported of [[], both]) {
      const bytes = moduleOf(size, exported);
      const shared = new Uint8Array(new SharedArrayBuffer(bytes.length + 2), 1, bytes.length);
      shared.set(bytes);
      const buffer = bytes.slice().buffer;
      for (const [source, view] of [
        [bytes, bytes],
        [buffer, new Uint8Array(buffer)],
        [shared, shared],
      ]) {
        const before = view.slice();
        const module = fiberfill.compile(source);
        assert.deepEqual(view, before, "nobody writes to the caller's bytes");
        view.fill(0);
        const { exports } = await fiberfill.instantiate(await module);
        assert.equal(await exports.f(), 7);
        assert.deepEqual(Object.keys(exports), ["f", ...exported.map(([text]) => text)]);
      }
    }
  }
});
