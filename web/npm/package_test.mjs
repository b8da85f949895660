// The package as a user gets it: packed by npm, installed into an empty project, and used there.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, cp, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { assemble } from "../../jsglue/test/assemble.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const tool = (name) => join(root, "node_modules/.bin", name);
const value = (id) => Number((BigInt(id) * 2654435761n + 12345n) % 1000003n);

let project, server, address;

before(async () => {
  project = await mkdtemp(join(tmpdir(), "fiberfill-package-"));
  await writeFile(join(project, "package.json"), `{"name":"stranger","private":true}`);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", project, join(root, "web/dist/npm")]);
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "./" + JSON.parse(stdout)[0].filename], {
    cwd: project,
  });
  await copyFile(join(root, "examples/wat-fetch/guest.wasm"), join(project, "guest.wasm"));
  server = createServer((request, response) => {
    const id = Number(new URL(request.url, "http://host").searchParams.get("id"));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id, value: value(id), title: `Item ${id}` }));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}`;
});

after(async () => {
  await new Promise((done) => server.close(done));
  await rm(project, { recursive: true });
});

// What every consumer below does: three fibers in one guest fetch, and it prints what they got.
const use = `
async function main(fiberfill, bytes, address, stacks) {
  const { exports, instance } = await fiberfill.instantiate(bytes, { env: {
    fetch_text: fiberfill.suspending(async (url, length, buffer, capacity) => {
      const memory = () => new Uint8Array(instance.exports.memory.buffer)
      const text = new TextDecoder().decode(memory().slice(url, url + length))
      const body = new Uint8Array(await (await fetch(text)).arrayBuffer())
      memory().set(body.subarray(0, capacity), buffer)
      return body.length
    }),
    log() {},
  } }, { stacks })
  console.log(JSON.stringify(await Promise.all([1, 2, 3].map((id) => exports.item(address + "/item?id=" + id)))))
}
`;
const want = [1, 2, 3].map(value);

/** Runs a file of the project and returns what it printed as JSON. */
async function printed(engine, file, ...more) {
  const [command, ...flags] = [engine].flat();
  const { stdout } = await run(command, [...flags, file, address, ...more], { cwd: project });
  return JSON.parse(stdout);
}

// Bun has Safari's engine, JavaScriptCore. Deno is told that the program may do anything.
const deno = [tool("deno"), "run", "--allow-all", "--no-remote"];
const engines = [
  ["Node", tool("node")],
  ["Bun", tool("bun")],
  ["Deno", deno],
];

for (const [engine, path] of engines) {
  test(`an ES module in ${engine} imports it`, async () => {
    await writeFile(
      join(project, "esm.mjs"),
      `import * as fiberfill from "fiberfill"
import { readFileSync } from "node:fs"
${use} await main(fiberfill, readFileSync("guest.wasm"), process.argv[2])`,
    );
    assert.deepEqual(await printed(path, "esm.mjs"), want);
  });
}

// JavaScriptCore calls the function of a Suspending import even where it cannot suspend the stack.
for (const [engine, path] of engines) {
  test(`in ${engine} a marked import below JavaScript is called once and may answer, but not wait`, async () => {
    await writeFile(
      join(project, "below.wasm"),
      assemble(`(module
      (import "env" "marked" (func $marked (result i32))) (import "env" "plain" (func $plain))
      (import "env" "also" (func $also (result i32)))
      (func (export "inner") (result i32) (call $marked))
      (func (export "outer") (result i32) (call $plain) (drop (call $also)) (call $marked)))`),
    );
    await writeFile(
      join(project, "below.mjs"),
      `import { instantiate, suspending } from "fiberfill"
import { readFileSync } from "node:fs"
const seen = []
let answer
const inner = () => { try { seen.push(instance.exports.inner()) } catch (error) { seen.push(error.code) } }
const { exports, instance } = await instantiate(readFileSync("below.wasm"), { env: {
  marked: suspending(() => (seen.push("called"), answer)),
  plain: inner,
  also: suspending(() => (inner(), 0)),
} })
for (answer of [1, Promise.resolve(2)]) seen.push(await exports.outer(), await exports.inner())
console.log(JSON.stringify(seen))`,
    );
    const calls = (below, value) => ["called", below, "called", below, "called", "called", value, value];
    assert.deepEqual(await printed(path, "below.mjs"), [...calls(1, 1), ...calls("cannot-suspend", 2)]);
  });
}

test("a CommonJS module in Node requires it", async () => {
  await writeFile(
    join(project, "cjs.cjs"),
    `const fiberfill = require("fiberfill")
const { readFileSync } = require("node:fs")
${use} main(fiberfill, readFileSync("guest.wasm"), process.argv[2])`,
  );
  assert.deepEqual(await printed(tool("node"), "cjs.cjs"), want);
});

test("import and require in one Node process share one scheduler", async () => {
  await writeFile(
    join(project, "one.mjs"),
    `import * as imported from "fiberfill"
import { createRequire } from "node:module"
const required = createRequire(import.meta.url)("fiberfill")
console.log(JSON.stringify(Object.keys(imported).filter((name) => imported[name] !== required[name])))`,
  );
  assert.deepEqual(await printed(tool("node"), "one.mjs"), []);
});

test("both halves export the same names", async () => {
  const at = (half) => JSON.stringify(join(project, "node_modules/fiberfill", half, "index.js"));
  await writeFile(
    join(project, "names.mjs"),
    `import * as esm from ${at("esm")}
import cjs from ${at("cjs")}
console.log(JSON.stringify([Object.keys(esm).sort(), Object.keys(cjs).sort()]))`,
  );
  const [esm, cjs] = await printed(tool("node"), "names.mjs");
  assert.deepEqual(esm, cjs);
  assert.ok(esm.includes("instantiate") && esm.includes("suspending"), esm.join(" "));
});

test("a CommonJS module requires it where CommonJS is all there is", async () => {
  await writeFile(
    join(project, "old-cjs.cjs"),
    `const fiberfill = require("./node_modules/fiberfill/cjs/index.js")
const { readFileSync } = require("node:fs")
${use} main(fiberfill, readFileSync("guest.wasm"), process.argv[2])`,
  );
  assert.deepEqual(await printed(tool("node"), "old-cjs.cjs"), want);
});

const vite = async () => {
  await writeFile(
    join(project, "vite.config.mjs"),
    `export default { logLevel: "warn", build: {
  lib: { entry: "entry.js", formats: ["es"], fileName: () => "out.mjs" } } }`,
  );
  const { stderr } = await run(tool("node"), [tool("vite"), "build"], { cwd: project });
  assert.equal(stderr, "");
};
// esbuild takes what is loaded on demand into its one file, and knows no import.meta.url in CommonJS.
const esbuild = (out, ...flags) => {
  const paths = [join(project, "entry.js"), "--outfile=" + join(project, out)];
  const command = ["run", "github.com/evanw/esbuild/cmd/esbuild", "--bundle", "--log-level=error", ...flags, ...paths];
  return run("go", command, { cwd: root });
};

for (const [bundler, bundle, text] of [
  ["Vite", vite, `import run from "./dist/out.mjs"`],
  ["esbuild", () => esbuild("out.mjs", "--format=esm", "--minify"), `import run from "./out.mjs"`],
  [
    "esbuild as CommonJS",
    () => esbuild("out.cjs", "--format=cjs", "--platform=node"),
    `import out from "./out.cjs"; const run = out.default`,
  ],
]) {
  test(`${bundler} bundles it, with what is loaded on demand`, async () => {
    await writeFile(
      join(project, "entry.js"),
      `import * as fiberfill from "fiberfill"
${use} export default (bytes, ...rest) => main(fiberfill, bytes, ...rest)`,
    );
    await bundle();
    await writeFile(
      join(project, "bundled.mjs"),
      `${text}
import { readFileSync } from "node:fs"
await run(readFileSync("guest.wasm"), process.argv[2], process.argv[3])`,
    );
    await rm(join(project, "node_modules"), { recursive: true }); // the bundle needs nothing else
    try {
      assert.deepEqual(await printed(tool("node"), "bundled.mjs"), want);
      assert.deepEqual(await printed(tool("node"), "bundled.mjs", "unwind"), want);
    } finally {
      await run("npm", ["install", "--offline", "--no-audit", "--no-fund"], { cwd: project });
    }
  });
}

// The part of the package that only guests with fibers of their own need, in each way to load it.
for (const [how, file, text] of [
  ["an ES module", "own.mjs", `import * as fiberfill from "fiberfill"`],
  ["a CommonJS module", "own.cjs", `const fiberfill = require("fiberfill")`],
  ["a bundle by Vite", "own-entry.js", `import * as fiberfill from "fiberfill"`],
]) {
  test(`${how} runs a guest with fibers of its own`, async () => {
    const bytes = await readFile(join(root, "jsglue/test/testdata/fibers1.wasm"), "base64");
    const imports = `{ env: { note() {}, wait: fiberfill.suspending(async (n) => n), fail() {}, call() {} } }`;
    await writeFile(
      join(project, file),
      `${text}
async function own() {
  const { exports } = await fiberfill.instantiate(Uint8Array.from(atob("${bytes}"), (c) => c.charCodeAt(0)), ${imports})
  await exports.init()
  console.log(JSON.stringify([await exports.sum(100), await exports.end(3)]))
}
own()`,
    );
    let program = file;
    if (file === "own.mjs") assert.deepEqual(await printed(tool("bun"), program), [5050, 3]);
    if (file === "own-entry.js") {
      await writeFile(
        join(project, "vite.config.mjs"),
        `export default { logLevel: "warn", build: {
  lib: { entry: "${file}", formats: ["es"], fileName: () => "own.mjs" } } }`,
      );
      await run(tool("node"), [tool("vite"), "build"], { cwd: project });
      program = "dist/own.mjs";
    }
    assert.deepEqual(await printed(tool("node"), program), [5050, 3]);
  });
}

test("a bundle that lacks the chunk for guests with fibers of their own says what is missing", async () => {
  const bytes = await readFile(join(root, "jsglue/test/testdata/fibers1.wasm"), "base64");
  await writeFile(
    join(project, "lost.mjs"),
    `import * as fiberfill from "./lost/index.js"
const error = await fiberfill.instantiate(Buffer.from("${bytes}", "base64"), { env: {} }).catch((error) => error)
console.log(JSON.stringify([error.code, error.message]))`,
  );
  await cp(join(project, "node_modules/fiberfill/esm"), join(project, "lost"), {
    recursive: true,
    filter: (file) => !file.includes("jumps-"),
  });
  const [code, message] = await printed(tool("node"), "lost.mjs");
  assert.equal(code, "load-failed");
  assert.match(
    message,
    /^a chunk of fiberfill, which guests that import fiberfill\/fibers1 need, cannot be loaded \(.*jumps-/,
  );
});

test("what does not read exports finds the parts of the package", async () => {
  for (const part of ["webassembly", "polyfill", "actors"]) {
    const folder = join(project, "node_modules/fiberfill", part);
    const { main, module, types } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    for (const file of [main, module, types]) assert.ok((await readFile(join(folder, file))).length > 0, file);
  }
});

test("it can be imported where there is no TextEncoder, as in Jest's jsdom", async () => {
  await writeFile(
    join(project, "bare.cjs"),
    `delete globalThis.TextEncoder
const fiberfill = require("./node_modules/fiberfill/cjs/index.js")
const fetch_text = fiberfill.suspending(async () => 0)
fiberfill.instantiate(require("node:fs").readFileSync("guest.wasm"), { env: { fetch_text, log() {} } })
  .then(({ exports }) => exports.item_or(new Uint8Array(8), 7))
  .then((value) => console.log(JSON.stringify(typeof value)))`,
  );
  assert.equal(await printed(tool("node"), "bare.cjs"), "number");
});

test("an engine without JSPI gets one error that says so", async () => {
  await writeFile(
    join(project, "old.mjs"),
    `// If this Node has JSPI it loses it here, before anything looks for it.
delete WebAssembly.Suspending
delete WebAssembly.promising
const fiberfill = await import("fiberfill")
const { readFileSync } = await import("node:fs")
const error = await fiberfill.instantiate(readFileSync("guest.wasm")).then(() => "no error", (e) => e)
console.log(JSON.stringify({ ours: error instanceof fiberfill.FiberError, code: error.code, message: error.message }))`,
  );
  const { ours, code, message } = await printed("node", "old.mjs");
  assert.deepEqual({ ours, code }, { ours: true, code: "no-jspi" });
  assert.match(message, /JavaScript Promise Integration|JSPI/);
});

for (const [kind, file] of [
  ["an ES module", "uses.mts"],
  ["a CommonJS module", "uses.cts"],
]) {
  test(`the types allow and refuse in ${kind} what uses.ts says`, async () => {
    await copyFile(join(root, "web/npm/uses.ts"), join(project, file));
    await checkTypes("--noEmit", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", file);
  });
}

test("the TypeScript in the guides compiles", async () => {
  const guides = (await readdir(join(root, "docs"))).filter((file) => file.endsWith(".md"));
  let blocks = 0;
  for (const guide of guides) {
    const text = await readFile(join(root, "docs", guide), "utf8");
    for (const [, block] of text.matchAll(/^```ts\n([^]*?)^```$/gm)) {
      await writeFile(join(project, `guide${++blocks}.mts`), block);
      await checkTypes("--noEmit", `guide${blocks}.mts`);
    }
  }
  assert.ok(blocks > 0);
});

/** Has TypeScript check strictly what the arguments say. */
async function checkTypes(...args) {
  const flags = ["--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2024,dom", "--types", ""];
  await run(tool("tsc"), [...flags, ...args], { cwd: project }).catch((error) =>
    assert.fail(error.stdout || error.message),
  );
}

test("fiberfill/actors runs an actor in C and one in TypeScript, with types", async () => {
  await copyFile(join(root, "examples/c-actor/guest.wasm"), join(project, "actor.wasm"));
  await writeFile(
    join(project, "actors.mts"),
    `import { ActorError, compileActor, Runtime, VirtualClock, type Host, type Message } from "fiberfill/actors"
declare const process: { getBuiltinModule(name: "fs"): { readFileSync(path: string): Uint8Array<ArrayBuffer> } }
const module = await compileActor(process.getBuiltinModule("fs").readFileSync("actor.wasm"))
const clock = new VirtualClock()
const runtime = new Runtime({ clock, ended: (_id: number, error?: ActorError) => { if (error) throw error } })
let answer = ""
const actor: number = runtime.spawn(module, { room: 4, stack: 32768 })
const tester = runtime.spawnNative((host: Host, { source, payload }: Message) => {
  if (source === 0) return host.send(actor, 204) === 0
  answer = new TextDecoder().decode(payload)
  return true
})
runtime.send(tester, 1)
await runtime.run(() => answer !== "")
console.log(JSON.stringify([answer, Math.floor(clock.now()), runtime.info(actor)?.blocked]))
runtime.close()
`,
  );
  await checkTypes("actors.mts");
  assert.deepEqual(await printed(tool("node"), "actors.mjs"), ["slept", 50, false]);
});

test("an error names the lines of the sources, if Node is to read source maps", async () => {
  await writeFile(
    join(project, "trace.mjs"),
    `import { limits } from "fiberfill"
try { limits(1) } catch (error) { console.log(JSON.stringify(error.stack)) }`,
  );
  const { stdout } = await run(tool("node"), ["--enable-source-maps", "trace.mjs"], { cwd: project });
  assert.match(JSON.parse(stdout), /^FiberError: limits takes [^]* \(?[^ ]*jsglue\/src\/turn\/limits\.ts:\d+:\d+\)?\n/);
});

test("classes keep their names in minified code", async () => {
  await writeFile(
    join(project, "names.cjs"),
    `require("./node_modules/fiberfill/fiberfill.js")
const error = new fiberfill.FiberError("trap", "why")
const mark = fiberfill.suspending(() => {})
const arena = fiberfill.all([])
console.log(JSON.stringify([error.name, error.constructor.name, String(error), error.stack.split("\\n")[0],
  mark.constructor.name, arena.constructor.name, fiberfill.Fiber.name,
  Object.keys(error), "FiberError" in fiberfill]))`,
  );
  assert.deepEqual(await printed(tool("node"), "names.cjs"), [
    "FiberError",
    "FiberError",
    "FiberError: why",
    "FiberError: why",
    "Suspending",
    "Arena",
    "Fiber",
    ["code", "name"],
    true,
  ]);
});

test("the package holds what it names, and nothing that should not be published", async () => {
  const installed = join(project, "node_modules/fiberfill");
  const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  const files = (await readdir(installed, { recursive: true })).map((file) => "./" + file);
  const named = (entry) => (typeof entry === "string" ? [entry] : Object.values(entry).flatMap(named));
  for (const file of [...named(manifest.exports), manifest.main, manifest.module, manifest.types]) {
    assert.ok(files.includes(file), `${file} is named in package.json and missing`);
  }
  for (const cdn of ["unpkg", "jsdelivr"]) assert.equal(manifest[cdn], "fiberfill.js");
  for (const file of files.filter((file) => file.endsWith(".map"))) {
    const { sources, sourcesContent } = JSON.parse(await readFile(join(installed, file), "utf8"));
    assert.equal(sourcesContent.filter(Boolean).length, sources.length, file);
    for (const source of sources) assert.match(source, /^\.\.\/src\/(jsglue|web|cmd)\//);
  }
  assert.deepEqual(
    files.filter((file) => /\.(ts|mjs|wasm)$/.test(file) && !file.endsWith(".d.ts")).sort(),
    // The rewriter, which is loaded when a module needs it, beside each script that does.
    ["./cjs/fiberfill-lower.wasm", "./esm/fiberfill-lower.wasm", "./fiberfill-lower.wasm"],
  );
});
