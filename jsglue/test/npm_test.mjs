// Two interpreters from npm, built by strangers: QuickJS and Lua, compiled by Emscripten, with their own glue. One
// import of each is made to wait. Their own code is not re-entrant, so each call has an interpreter state of its own,
// all in one instance. (A third program is SQLite: examples/sqljs.)

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterEach, test } from "node:test";
import { compileFunction, constants } from "node:vm";
import quickjs from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
import * as fiberfill from "../../web/dist/npm/esm/index.js";

const require = createRequire(import.meta.url);

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

const COUNT = 40;

/** Waits that the test ends in an order of its own, some at once and some together. */
function waits() {
  const ends = [];
  let order = 1;
  const turn = () => {
    for (let n = 1 + (order % 3); n > 0 && ends.length > 0; n--) {
      order = (order * 48271) % 2147483647;
      ends.splice(order % ends.length, 1)[0]();
    }
    if (ends.length > 0) setImmediate(turn);
  };
  return {
    most: 0,
    wait() {
      return new Promise((end) => {
        if (ends.push(end) === 1) setImmediate(turn);
        this.most = Math.max(this.most, ends.length);
      });
    },
  };
}

/** Runs the calls one after another, and then all at once. Both must give these answers. */
async function compare(calls, expected, world) {
  const answers = [];
  for (const call of calls) answers.push(await call());
  assert.deepEqual(answers, expected);
  assert.equal(world.most, 1);
  assert.deepEqual(await Promise.all(calls.map((call) => call())), expected);
  assert.ok(world.most > COUNT / 2, `${world.most} waited at once`);
}

// --- QuickJS: this build shortens names to letters. The import s calls a function of the host.

const letters = { malloc: "v", eval: "pa" };

/** The answer that a script gets for n. */
const lookUp = (n) => (n * 7919) % 1009;

async function quickjsWith(shadowStack, world) {
  let exports, glue;
  const instantiateWasm = (imports, done) => {
    const { s: callHost } = imports.a;
    assert.equal(callHost.length, 5);
    const ask = fiberfill.suspending(
      async (context, self, count, values) => {
        const n = glue._QTS_GetFloat64(context, glue._QTS_ArgvGetJSValueConstPointer(values, 0));
        await world.wait();
        return lookUp(n);
      },
      (value, context) => glue._QTS_NewFloat64(context, value),
    );
    const wasm = readFileSync(require.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
    fiberfill.instantiate(wasm, { a: { ...imports.a, s: ask } }, { shadowStack }).then((guest) => {
      exports = guest.exports;
      done(guest.instance, guest.module);
    });
    return {};
  };
  const variant = {
    ...quickjs,
    async importModuleLoader() {
      const load = await quickjs.importModuleLoader();
      return async (options) => (glue = await load({ ...options, instantiateWasm }));
    },
  };
  const module = await newQuickJSWASMModuleFromVariant(variant);
  const copy = (text) => {
    const size = glue.lengthBytesUTF8(text);
    const at = glue._malloc(size + 1);
    glue.stringToUTF8(text, at, size + 1);
    return [at, size];
  };
  const [file] = copy("script.js");
  /** Evaluates a script in an interpreter state of its own; the script may call ask. Returns its value, a number. */
  return async (script) => {
    const vm = module.newContext();
    const context = vm.ctx.value;
    const ask = vm.newFunction("ask", () => assert.fail("the glue's own function is not called"));
    vm.setProp(vm.global, "ask", ask);
    ask.dispose();
    const [at, size] = copy(script);
    const value = await exports[letters.eval](context, at, size, file, 0, 0);
    glue._free(at);
    const thrown = glue._QTS_ResolveException(context, value);
    assert.equal(thrown, 0, "the script did not throw");
    const number = glue._QTS_GetFloat64(context, value);
    glue._QTS_FreeValuePointer(context, value);
    vm.dispose();
    return number;
  };
}

const script = (k) => `
  let texts = [];
  function* numbers(n) { for (let i = 0; i < n; i++) yield ask(${k} * 10 + i); }
  function sum(depth) {
    if (depth === 0) { let s = 0; for (const n of numbers(3)) { texts.push("n" + n); s += n; } return s; }
    try { return sum(depth - 1) * 3 + ask(depth + ${k}); } finally { texts.push(JSON.stringify({ depth })); }
  }
  sum(4) + texts.join().length + [5, 3, 9].sort((a, b) => ask(a) - ask(b) )[0] * 1000000;`;

/** The same script, run by this engine. */
const expectedOf = (k) => new Function("ask", script(k).replace("sum(4) +", "return sum(4) +"))(lookUp);

for (const [how, shadowStack] of [
  ["regions from its allocator", { allocator: letters.malloc, regions: "allocator" }],
  ["copied stacks", { regions: "copy" }],
  ["what fiberfill chooses", {}],
]) {
  test(`QuickJS, ${how}: ${COUNT} scripts at once whose calls wait, in generators too`, async () => {
    const world = waits();
    const run = await quickjsWith(shadowStack, world);
    const all = Array.from({ length: COUNT }, (_, k) => k);
    await compare(
      all.map((k) => () => run(script(k))),
      all.map(expectedOf),
      world,
    );
  });
}

// --- Lua: the import fd_read waits, so a script waits wherever it reads a file.

async function luaWith(shadowStack, world) {
  let exports;
  // This glue has no hook for instantiation, but calls the engine's functions by name.
  const instantiate = async (wasm, imports) => {
    const { wasi_snapshot_preview1: wasi } = imports;
    const fd_read = fiberfill.suspending(
      () => world.wait(),
      (_, ...args) => wasi.fd_read(...args), // its arguments point to the caller's locals
    );
    const guest = await fiberfill.instantiate(
      wasm,
      { ...imports, wasi_snapshot_preview1: { ...wasi, fd_read } },
      { shadowStack },
    );
    exports = guest.exports;
    return guest;
  };
  const engine = Object.create(WebAssembly, {
    instantiate: { value: instantiate },
    instantiateStreaming: { value: undefined },
  });
  const path = require.resolve("wasmoon");
  const module = { exports: {} };
  const parameters = ["exports", "module", "require", "__filename", "WebAssembly"];
  const load = compileFunction(readFileSync(path, "utf8"), parameters, {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  load(module.exports, module, require, path, engine);
  const factory = new module.exports.LuaFactory(require.resolve("wasmoon/dist/glue.wasm"));
  const lua = await factory.getLuaModule();
  return {
    mount: (path, text) => factory.mountFile(path, text),
    /** Runs a script, which returns an integer, in a state of its own. */
    async run(script) {
      const engine = await factory.createEngine();
      const state = engine.global.address;
      assert.equal(lua.luaL_loadstring(state, script), 0);
      // Not protected: lua_pcall runs its function below JavaScript, where it could not wait.
      await exports.lua_callk(state, 0, 1, 0, 0);
      const value = lua.lua_tointegerx(state, -1, null);
      engine.global.close();
      return Number(value);
    },
  };
}

for (const [how, shadowStack] of [
  ["regions from its allocator", { regions: "allocator" }],
  ["copied stacks", { regions: "copy" }],
]) {
  test(`Lua, ${how}: ${COUNT} scripts at once, each of which waits for every piece of its file`, async () => {
    const world = waits();
    const { mount, run } = await luaWith(shadowStack, world);
    const calls = [];
    const expected = [];
    for (let k = 0; k < COUNT; k++) {
      const lines = Array.from({ length: 400 }, (_, i) => `${(k * 31 + i * 17) % 1000} ${"x".repeat((i + k) % 9)}`);
      await mount(`/files/${k}.txt`, lines.join("\n") + "\n");
      const sum = lines.reduce((sum, line, i) => (sum * 3 + (i % 2 ? parseInt(line) : line.length)) % 1000003, 0);
      expected.push(sum);
      calls.push(() =>
        run(`
          local seen, sum, i = {}, 0, 0
          local function each(line)
            seen[#seen + 1] = line:upper():lower()
            sum = (sum * 3 + (i % 2 == 1 and tonumber(line:match("%d+")) or #line)) % 1000003
            i = i + 1
          end
          for line in io.lines("/files/${k}.txt") do each(line) end
          assert(#seen == 400 and #table.concat(seen, "\\n") + 1 == ${lines.join("\n").length + 1})
          return sum`),
      );
    }
    await compare(calls, expected, world);
  });
}
