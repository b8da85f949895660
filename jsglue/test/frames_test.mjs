// Where a fiber on a stack of fiberfill's own stands: names of saved frames, and errors whose stacks have them.
// Run over web/dist/npm in Node 26, and in engines without JSPI.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

const wat = `(module $guest
  (type $way (func (param i32) (result i32)))
  (import "env" "wait" (func $wait (type $way)))
  (import "env" "check" (func $check (param i32)))
  (tag $caught)
  (table 1 funcref) (elem (i32.const 0) $by_table)

  ;; Kept as they are, entered at their beginning or behind the wait.
  (func $inner (param i32) (result i32) (i32.add (call $wait (local.get 0)) (i32.const 1)))
  (func $by_table (type $way) (i32.add (call $inner (local.get 0)) (i32.const 1)))
  ;; It keeps a reference, so there are two of it.
  (func $std::vec<int>::push (param $v i32) (param $r externref) (result i32)
    (local.set $v (call_indirect (type $way) (local.get $v) (i32.const 0)))
    (i32.add (local.get $v) (ref.is_null (local.get $r))))
  (func $deep (param $n i32) (param $v i32) (result i32)
    (if (result i32) (local.get $n)
      (then (i32.add (call $deep (i32.sub (local.get $n) (i32.const 1)) (local.get $v)) (i32.const 1)))
      (else (i32.add (call $std::vec<int>::push (local.get $v) (ref.null extern)) (i32.const 1)))))

  (func $sums (export "sums") (type $way) (i32.add (call $deep (i32.const 1) (local.get 0)) (i32.const 1)))

  ;; After the wait something fails two calls further out than where it was.
  (func $fails (type $way)
    (local.set 0 (call $by_table (local.get 0)))
    (call $check (local.get 0))
    (i32.div_u (i32.const 1) (i32.sub (local.get 0) (i32.const 12))))
  (func $outer (export "outer") (type $way) (i32.add (call $fails (local.get 0)) (i32.const 1)))

  ;; The first failure is caught here, where the guest goes on, and calls what fails again.
  (func $catches (export "catches") (type $way)
    (block $again
      (try_table (result i32) (catch_all $again) (call $outer (local.get 0)))
      (return))
    (i32.add (call $outer (local.get 0)) (i32.const 1)))

  ;; What the wait throws is caught, and something fails further out.
  (func $rescues (type $way)
    (block $caught
      (try_table (result i32) (catch_all $caught) (call $inner (local.get 0)))
      (return))
    (i32.const 0))
  (func $retries (type $way)
    (local.set 0 (call $rescues (local.get 0)))
    (call $check (local.get 0))
    (local.get 0))
  (func $rescued (export "rescued") (type $way) (i32.add (call $retries (local.get 0)) (i32.const 1)))

  (func $plain (export "plain") (type $way) (call $check (local.get 0)) (local.get 0)))`;

const pause = () => new Promise(setImmediate);

async function guest(names = true, check = () => {}) {
  const waits = [];
  const wait = fiberfill.suspending(() => new Promise((resolve, reject) => waits.push({ resolve, reject })));
  const { exports } = await fiberfill.instantiate(
    assemble(wat, [], names),
    { env: { wait, check } },
    { stacks: "unwind" },
  );
  const next = async () => {
    while (waits.length === 0) await pause();
    return waits.shift();
  };
  return { exports, next };
}

/** The functions of the guest in an error's stack, and -- for what is fiberfill's below them. */
const traced = (error) => {
  let ours = 0;
  return error.stack.split("\n").flatMap((whole) => {
    const line = whole.replace(/(file:\/\/)?\/\S*:\d+:\d+\)?$/, ""); // folders are called check and wasm, too
    const found = /(sums|deep|push|by_table|inner|fails|outer(?!most)|catches|rescue[sd]|retries|plain|check\b)/.exec(
      line,
    );
    if (/\boutermost\b|fiberfill\.fiber/.test(line)) return ours++ === 0 ? ["--"] : [];
    return found && /wasm|check/.test(line) ? [found[0]] : [];
  });
};

const failure = async (call) => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
};

const bun = process.versions.bun !== undefined; // Bun 1.2 names no functions of wasm

test("a fiber that waits tells in which functions of the guest, innermost first", async () => {
  const { exports, next } = await guest();
  const call = exports.sums(1);
  assert.equal(call.frames, undefined, "it has not started");
  const { resolve } = await next();
  const names = ["inner", "by_table", "std::vec<int>::push", "deep", "deep", "sums"];
  const all = names.map((name) => `guest.${name}`); // with the module's
  assert.deepEqual(call.frames, bun ? undefined : all);
  assert.deepEqual(fiberfill.fibers()[0].frames, call.frames, "a second look finds the same");
  resolve(10);
  assert.equal(await call, 16, "looking has changed nothing");
  assert.equal(call.frames, undefined, "it is over");
});

test("where the guest has no names, its functions are told by their numbers", async () => {
  const { exports, next } = await guest(false);
  const call = exports.sums(1);
  const { resolve } = await next();
  if (!bun) {
    assert.equal(call.frames.length, 6);
    for (const name of call.frames) assert.match(name, /^wasm-function\[\d+\]$/);
    assert.equal(call.frames[3], call.frames[4]);
  }
  resolve(10);
  assert.equal(await call, 16);
});

test("inside an import of another fiber the frames of one that waits are known, and nothing goes astray", async () => {
  let seen;
  const { exports, next } = await guest(true, (v) => (seen = v === 5 && !seen ? first.frames : seen));
  const first = exports.sums(1);
  const { resolve } = await next();
  assert.equal(await exports.plain(5), 5);
  assert.deepEqual(seen, first.frames);
  resolve(1);
  assert.equal(await first, 7);
});

test("a page's own settings of stacks are neither used nor lost", async () => {
  const { exports, next } = await guest();
  const call = exports.sums(1);
  const { resolve } = await next();
  const { stackTraceLimit } = Error;
  const expected = call.frames;
  const own = () => "mine";
  try {
    Error.stackTraceLimit = 0;
    Error.prepareStackTrace = own;
    assert.deepEqual(call.frames, expected);
    assert.equal(Error.prepareStackTrace, own);
    assert.equal(Error.stackTraceLimit, 0);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    delete Error.prepareStackTrace;
  }
  resolve(1);
  await call;
});

test("an error that a wait throws has the frames of who waits at the end of its stack", async () => {
  const { exports, next } = await guest();
  const call = exports.sums(1);
  const { reject } = await next();
  const error = new Error("refused");
  const before = error.stack;
  reject(error);
  assert.equal(await failure(call), error);
  assert.ok(error.stack.startsWith(before.trimEnd()), error.stack);
  assert.deepEqual(traced(error), bun ? [] : ["inner", "by_table", "push", "deep", "deep", "sums"]);
  assert.deepEqual(Object.keys(error), []);
  assert.equal(error.stack, error.stack);
  error.stack = "other";
  assert.equal(error.stack, "other");
});

test("after a trap the frames that were not entered again stand before what is fiberfill's", async () => {
  const { exports, next } = await guest();
  const call = exports.outer(1);
  (await next()).resolve(10);
  const error = await failure(call);
  assert.equal(error.code, "trap");
  if (bun) return;
  const list = traced(error.cause);
  assert.equal(list[0], "fails");
  assert.deepEqual(list.slice(list.lastIndexOf("fails") + 1), ["outer", "--"], error.cause.stack);
});

test("so they do when an import throws that a function has called after its wait", async () => {
  const { exports, next } = await guest(true, function check() {
    throw new Error("checked");
  });
  const call = exports.outer(1);
  (await next()).resolve(1);
  const error = await failure(call);
  assert.equal(error.message, "checked");
  if (bun) return;
  const list = traced(error);
  assert.equal(list[0], "check");
  assert.deepEqual(list.slice(list.lastIndexOf("fails") + 1), ["outer", "--"], error.stack);
});

test("what a guest has caught before is not in the stack of a later error", async () => {
  const { exports, next } = await guest(true, function check(v) {
    if (v > 2) throw new Error(`checked ${v}`);
  });
  const call = exports.catches(1);
  (await next()).resolve(1);
  (await next()).resolve(2);
  const error = await failure(call);
  assert.equal(error.message, "checked 4");
  if (bun) return;
  const list = traced(error);
  assert.deepEqual(list.slice(list.lastIndexOf("fails") + 1), ["outer", "catches", "--"], error.stack);
});

test("what is thrown after a wait's error was caught has its own frames", async () => {
  const { exports, next } = await guest(true, function check() {
    throw new Error("checked");
  });
  const call = exports.rescued(1);
  (await next()).reject(new Error("refused"));
  const error = await failure(call);
  assert.equal(error.message, "checked");
  if (bun) return;
  const list = traced(error);
  assert.deepEqual(list.slice(list.lastIndexOf("retries") + 1), ["rescued", "--"], error.stack);
});

test("errors that cannot be changed, that are none, or that end several calls stay what they are", async () => {
  const { exports, next } = await guest();
  for (const value of [Object.freeze(new Error("frozen")), "a string", null, { stack: 5 }]) {
    const call = exports.sums(1);
    (await next()).reject(value);
    assert.equal(await failure(call), value);
  }
  const shared = new Error("shared");
  const calls = [exports.sums(1), exports.outer(1)];
  for (const _ of calls) (await next()).reject(shared);
  for (const call of calls) assert.equal(await failure(call), shared);
  assert.deepEqual(traced(shared), bun ? [] : ["inner", "by_table", "push", "deep", "deep", "sums"]);
});

test("an error of a call that never waited is the engine's alone", async () => {
  const { exports, next } = await guest(true, () => {
    throw new Error("at once");
  });
  const waiting = exports.sums(1);
  const { resolve } = await next();
  const error = await failure(exports.plain(3));
  assert.equal(traced(error).includes("plain"), !bun);
  assert.equal(traced(error).includes("deep"), false);
  resolve(1);
  await waiting;
});
