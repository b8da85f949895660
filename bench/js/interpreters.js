// Three programs from npm, compiled from C by strangers and run by their own glue: Lua, QuickJS, SQLite. Nothing waits
// here, but an import of each might: what does that cost while it does not?

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { compileFunction, constants } from "node:vm";

const require = createRequire(import.meta.url);

/** A contestant: instantiate makes an instance of a program, given its name and what its glue provides. */
export function interpreters(instantiate) {
  const programs = {};
  return {
    /** Runs a program's script n times. */
    async cost(operation, n) {
      programs[operation] ??= await open[operation]((imports) => instantiate(operation, imports));
      return programs[operation](n);
    },
  };
}

const open = { lua, quickjs, sqlite };

async function lua(instantiate) {
  // This glue has no hook for instantiation, but calls the engine's functions by name.
  const engine = Object.create(WebAssembly, {
    instantiate: { value: async (_, imports) => ({ instance: await instantiate(imports) }) },
    instantiateStreaming: { value: undefined },
  });
  const path = require.resolve("wasmoon");
  const module = { exports: {} };
  compileFunction(readFileSync(path, "utf8"), ["exports", "module", "require", "__filename", "WebAssembly"], {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })(module.exports, module, require, path, engine);
  const factory = new module.exports.LuaFactory(require.resolve("wasmoon/dist/glue.wasm"));
  const { lua_callk, lua_getglobal, lua_pushinteger, lua_settop, lua_tointegerx, luaL_loadstring } =
    await factory.getLuaModule();
  const state = (await factory.createEngine()).global.address;
  if (luaL_loadstring(state, luaScript) !== 0) throw new Error("the script of Lua does not compile");
  lua_callk(state, 0, 0, 0, null);
  return (n) => {
    lua_getglobal(state, "run");
    lua_pushinteger(state, BigInt(n));
    lua_callk(state, 1, 1, 0, null);
    const result = Number(lua_tointegerx(state, -1, null));
    lua_settop(state, -2);
    return result;
  };
}

const luaScript = `
  local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
  local Point = {} Point.__index = Point
  function Point.new(x, y) return setmetatable({ x = x, y = y }, Point) end
  function Point:norm() return self.x * self.x + self.y * self.y end
  local function once(k)
    local list, words, sum = {}, {}, 0
    for i = 1, 40 do list[i] = (i * 7919 + k) % 101 end
    table.sort(list, function(a, b) return a > b end)
    for i = 1, 10 do words[i] = string.format("%d:%s", i, tostring(list[i])) end
    local text = table.concat(words, ","):gsub("%d+", function(d) return "<" .. d .. ">" end)
    for i, v in ipairs(list) do sum = sum + Point.new(i, v):norm() % 7 end
    return fib(10) == 55 and #text > 0 and sum > 0
  end
  function run(n)
    local good = 0
    for k = 1, n do if once(k) then good = good + 1 end end
    return good
  end`;

async function quickjs(instantiate) {
  const { newQuickJSWASMModuleFromVariant } = await import("quickjs-emscripten-core");
  const { default: variant } = await import("@jitl/quickjs-wasmfile-release-sync");
  const instantiateWasm = (imports, done) => void instantiate(imports).then(done) || {};
  const module = await newQuickJSWASMModuleFromVariant({
    ...variant,
    async importModuleLoader() {
      const load = await variant.importModuleLoader();
      return (options) => load({ ...options, instantiateWasm });
    },
  });
  const vm = module.newContext();
  vm.unwrapResult(vm.evalCode(jsScript)).dispose();
  const run = vm.getProp(vm.global, "run");
  return (n) => vm.unwrapResult(vm.callFunction(run, vm.undefined, vm.newNumber(n))).consume((v) => vm.getNumber(v));
}

const jsScript = `
  const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2));
  class Point {
    constructor(x, y) { this.x = x; this.y = y; }
    norm() { return this.x * this.x + this.y * this.y; }
  }
  function once(k) {
    const list = [];
    for (let i = 1; i <= 40; i++) list.push((i * 7919 + k) % 101);
    list.sort((a, b) => b - a);
    const words = list.slice(0, 10).map((v, i) => i + ":" + v);
    const text = words.join().replace(/[0-9]+/g, (d) => "<" + d + ">");
    let sum = 0;
    for (const [i, v] of list.entries()) sum += new Point(i, v).norm() % 7;
    return fib(10) === 55 && JSON.parse(JSON.stringify({ text, sum })).text.length > 0 && sum > 0;
  }
  globalThis.run = (n) => { let good = 0; for (let k = 0; k < n; k++) if (once(k)) good++; return good; };`;

async function sqlite(instantiate) {
  const init = require("sql.js/dist/sql-wasm.js");
  const { Database } = await init({
    instantiateWasm: (imports, done) => void instantiate(imports).then((instance) => done(instance)) || {},
  });
  const db = new Database();
  db.run(
    "CREATE TABLE items (id INTEGER PRIMARY KEY, value INTEGER, title TEXT); CREATE INDEX by_value ON items (value)",
  );
  const insert = db.prepare("INSERT INTO items VALUES (?, ?, ?)");
  for (let id = 0; id < 300; id++) insert.run([id, (id * 7919) % 101, `Item ${id}`]);
  const query = db.prepare(`
    SELECT value, count(*) AS n, max(upper(title)) FROM items WHERE id % 7 <> :k AND title LIKE '%1%'
    GROUP BY value HAVING n > 0 ORDER BY n DESC, value LIMIT 5`);
  const join = db.prepare("SELECT count(*) FROM items a JOIN items b ON a.value = b.value WHERE a.id < 50 + :k");
  return (n) => {
    let good = 0;
    for (let k = 0; k < n; k++) {
      query.bind({ ":k": k % 7 });
      let rows = 0;
      while (query.step()) rows += query.get().length === 3 ? 1 : 0;
      join.bind({ ":k": k % 10 });
      join.step();
      if (rows === 5 && join.get()[0] > 100) good++;
      insert.run([1000 + k, k % 101, "new"]);
      db.run("DELETE FROM items WHERE id >= 1000");
    }
    return good;
  };
}
