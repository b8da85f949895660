// Random modules on stacks of fiberfill's own: any of their imports waits or does not, decided by the seed, and every
// call has the result, the log, the memory and the globals that it has in the engine alone. Run over web/dist/npm.
//
// FIBERFILL_SEED is the seed of the first module, FIBERFILL_MODULES how many are compared.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./without_jspi.mjs";
import { assemble } from "./assemble.mjs";
import { fuzz } from "./fuzzer.mjs";
import { operandModule } from "./operands.mjs";
import { random } from "./random.mjs";

const { WebAssembly: ours } = await import("../../web/dist/npm/esm/webassembly.js");
const { fibers } = await import("../../web/dist/npm/esm/index.js");
const plain = globalThis.WebAssembly;

const SEED = Number(process.env.FIBERFILL_SEED ?? 1);
const COUNT = Number(process.env.FIBERFILL_MODULES ?? 300);

const LACKING = [
  "acquire-release-atomics",
  "compact-imports",
  "custom-descriptors",
  "custom-page-sizes",
  "fp16",
  "memory64",
  "multibyte",
  "relaxed-atomics",
  "relaxed-simd", // its results are the engine's choice
  "shared-everything",
  "stack-switching",
  "strings",
  "wide-arithmetic",
];
// Engines do not take the older exceptions in one module with those that the rewriter needs.
const features = ["--emit-exnref", "-all", ...LACKING.map((name) => `--disable-${name}`)];

/** What can be compared of a value: nothing of a reference but its kind. */
const shown = (v) => (typeof v === "object" && v !== null ? "object" : typeof v === "function" ? "function" : v);

// It takes what JavaScript has no values of, and throws no TypeError: only calls from JavaScript do.
const vector = new plain.Instance(new plain.Module(assemble('(module (func (export "f") (param v128)))'))).exports.f;

class Thrown extends Error {}

/** The start function has called an import. */
class Started extends Error {}

/**
 * Makes an instance and calls its exports one after another, but for those with types that JavaScript has no values of,
 * which the engine refuses to call. Resolves to all that can be seen of that.
 */
async function play(wasm, bytes, seed, suspends, without = new Set()) {
  const module = new wasm.Module(bytes);
  const log = [];
  const env = Object.create(null);
  const next = random(seed + 1);
  let waits = 0;
  for (const { module: from, name, kind } of plain.Module.imports(module)) {
    env[from] ??= Object.create(null);
    if (kind === "tag") {
      env[from][name] = name === "jstag" ? plain.JSTag : new plain.Tag({ parameters: ["i32"] });
      continue;
    }
    if (kind !== "function") {
      env[from][name] = kind === "global" ? null : undefined;
      continue;
    }
    if (name === "log-v128") {
      env[from][name] = vector;
      continue;
    }
    const answers = next(1000);
    const body = (...args) => {
      log.push([name, ...args.map(shown)]);
      if (name === "throw") throw new Thrown(String(args[0]));
      if (name === "table-get") return null;
      if (name === "answer") return answers + log.length;
      return name === "call-export-catch" ? (answers + log.length) & 1 : undefined;
    };
    const waiting = next(2) === 0;
    env[from][name] =
      suspends && waiting
        ? new wasm.Suspending(async (...args) => {
            waits++;
            if (answers & 1) await new Promise(setImmediate);
            return body(...args);
          })
        : body;
  }
  const { exports } = new wasm.Instance(module, env);
  // A start function cannot wait. If it catches everything, it goes on without what it called: another program.
  if (log.length > 0) throw new Started();
  const look = () =>
    Object.entries(exports).flatMap(([name, it]) => {
      if (it instanceof plain.Memory) return [name, it.buffer.byteLength, sum(new Uint8Array(it.buffer))];
      if (it instanceof plain.Global) return [name, value(it)];
      return it instanceof plain.Table ? [name, it.length] : [];
    });
  const seen = [look()];
  const calls = Object.entries(exports).filter(([, it]) => typeof it === "function");
  const refused = new Set();
  for (const [name, fn] of calls) {
    const args = Array.from({ length: fn.length }, () => next(5));
    if (without.has(name)) continue;
    const call = suspends ? ours.promising(fn) : async (...args) => fn(...args);
    const end = await call(...args).then(
      (v) => [Array.isArray(v) ? v.map(shown) : shown(v)],
      (error) => (error instanceof Thrown ? error.message : (error?.constructor?.name ?? shown(error))),
    );
    if (!suspends && end === "TypeError") {
      refused.add(name);
      continue;
    }
    if (end === "RangeError") return { seen, waits, refused, deep: seen.length };
    seen.push([name, end, ...log.splice(0), ...look()]);
  }
  return { seen, waits, refused };
}

function value(global) {
  try {
    return shown(global.value);
  } catch (error) {
    return error.constructor.name; // of a type that JavaScript has no values of
  }
}

function sum(bytes) {
  let h = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] > 0) h = (Math.imul(h, 31) + bytes[i] * (i + 1)) | 0;
  return h;
}

test(`${COUNT} random modules from seed ${SEED} do the same whether their imports wait or not`, (t) =>
  compare(t, (seed) => fuzz(seed, features)));

test(`${COUNT} modules of random operands from seed ${SEED} do the same whether their imports wait or not`, (t) =>
  compare(t, operandModule));

/** Plays as many modules as are to be compared, each in the engine alone and with imports that wait. */
async function compare(t, make) {
  let played = 0;
  let waits = 0;
  let refusals = 0;
  let seed = SEED;
  for (; played < COUNT; seed++) {
    assert.ok(seed - SEED < 3 * COUNT + 20, `of ${seed - SEED} modules only ${played} are any the engine takes`);
    const bytes = await make(seed);
    let expected;
    try {
      expected = await play(plain, bytes, seed, false);
    } catch {
      continue; // the engine lacks something, or the start function throws or calls an import
    }
    let got;
    try {
      got = await play(ours, bytes, seed, true, expected.refused);
    } catch (error) {
      // A start function cannot wait, either.
      if (!/cannot lower this module/.test(error.message) && !(error instanceof ours.SuspendError)) throw error;
      refusals++;
      continue;
    }
    const until = Math.min(expected.deep ?? Infinity, got.deep ?? Infinity);
    assert.deepStrictEqual(got.seen.slice(0, until), expected.seen.slice(0, until), `seed ${seed}`);
    waits += got.waits;
    played++;
  }
  t.diagnostic(`${seed - SEED} made, ${refusals} refused, ${waits} waits`);
  assert.ok(waits > COUNT, `only ${waits} waits`);
  assert.deepEqual(fibers(), []);
}
