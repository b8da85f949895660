// Imports without a mark that return Promises. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";

const calls = (type) => `(module (import "env" "get" (func $get (result ${type})))
  (func (export "call") (result ${type}) (call $get)))`;

async function call(type, get) {
  const { exports } = await fiberfill.instantiate(assemble(calls(type)), { env: { get } });
  return exports.call.with({ name: "it" })();
}

for (const type of ["i32", "i64", "f32", "f64"])
  test(`a Promise for an ${type} is refused, and the import is named`, async () => {
    for (const get of [() => Promise.resolve(5), () => ({ then() {} })])
      await assert.rejects(call(type, get), {
        code: "bad-import",
        message: /^import env\.get .* fiberfill\.suspending$/,
      });
  });

test("a Promise for a reference is passed on as it is", async () => {
  const promise = Promise.resolve(5);
  const { instance } = await fiberfill.instantiate(assemble(calls("externref")), { env: { get: () => promise } });
  assert.equal(instance.exports.call(), promise);
  await null;
  assert.equal(Object.hasOwn(promise, "valueOf"), false);
});

test("a Promise for nothing is nobody's mistake, and is left alone", async () => {
  let settled;
  const get = () => (settled = Promise.resolve(5));
  assert.equal(await call("", get).catch((error) => error), undefined);
  assert.equal(await settled, 5);
  assert.equal(Object.hasOwn(settled, "valueOf"), false);
});

test("what is no Promise is converted by the engine, with all arguments and without a receiver", async () => {
  assert.equal(await call("i32", () => "7"), 7);
  assert.equal(await call("i64", () => 7n), 7n);
  const text = `(module (import "env" "count" (func $count (param i32 i32 i32) (result i32)))
    (import "Math" "max" (func $max (param f64 f64) (result f64)))
    (func (export "call") (result f64)
      (call $max (f64.const 1) (f64.convert_i32_s (call $count (i32.const 1) (i32.const 2) (i32.const 3))))))`;
  let receiver = null;
  function count(...args) {
    receiver = this;
    return args.length;
  }
  const { exports } = await fiberfill.instantiate(assemble(text), { env: { count }, Math });
  assert.equal(await exports.call(), 3);
  assert.equal(receiver, undefined);
});

test("a Promise with a number of its own, and what is no function, stay as they are", async () => {
  const seven = Object.assign(Promise.resolve(5), { valueOf: () => 7 });
  assert.equal(await call("i32", () => seven), 7);
  const text = `(module (global (export "got") (import "env" "x") externref))`;
  const x = () => Promise.resolve(5);
  assert.equal((await fiberfill.instantiate(assemble(text), { env: { x } })).exports.got.value, x);
});
