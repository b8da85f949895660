// Objects of another window: here of a context of node:vm, whose classes are others. Run over web/dist/npm.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { runInNewContext } from "node:vm";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { WebAssembly as lowering } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

const { Module, Table, Tag } = runInNewContext("WebAssembly");

// leaf keeps its parameter in a frame while it waits; f calls what lies in the table.
const guest = assemble(`(module
  (type $f (func (param i32) (result i32)))
  (import "env" "wait" (func $wait (param i32)))
  (import "env" "table" (table 2 funcref))
  (memory (export "memory") 2)
  (global $sp (mut i32) (i32.const 65536))
  (func (export "leaf") (type $f) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 16))))
    (i32.store (local.get $frame) (local.get 0))
    (call $wait (local.get 0))
    (local.set 0 (i32.load (local.get $frame)))
    (global.set $sp (i32.add (local.get $frame) (i32.const 16)))
    (local.get 0))
  (func (export "f") (type $f) (call_indirect (type $f) (local.get 0) (i32.const 0))))`);

const kinds = hasJSPI ? ["jspi", "unwind"] : ["unwind"];

for (const stacks of kinds) {
  test(`${stacks}: calls by a table of another window keep their frames apart`, async () => {
    const table = new Table({ initial: 2, element: "anyfunc" });
    const gates = new Map();
    const wait = fiberfill.suspending((n) => new Promise((open) => gates.set(n, open)));
    const instance = async () => await fiberfill.instantiate(guest, { env: { wait, table } }, { stacks });
    const [a, b] = [await instance(), await instance()];
    table.set(0, b.instance.exports.leaf);
    const open = async (n, call) => {
      while (!gates.has(n)) await new Promise(setImmediate);
      gates.get(n)();
      assert.equal(await call, n);
    };
    const first = [a.exports.f(1), a.exports.f(2)];
    await open(1, first[0]);
    const second = [a.exports.f(3), a.exports.f(4)];
    while (!gates.has(4)) await new Promise(setImmediate);
    await open(2, first[1]);
    await open(3, second[0]);
    await open(4, second[1]);
  });
}

test("a function that cannot be left is behind a barrier in a table of another window", async () => {
  const table = new Table({ initial: 2, element: "anyfunc" });
  const wait = fiberfill.suspending(async () => {});
  const { exports, instance } = await fiberfill.instantiate(guest, { env: { wait, table } }, { stacks: "unwind" });
  const { leaf } = instance.exports;
  const plain = assemble(`(module
    (import "env" "leaf" (func $leaf (param i32) (result i32)))
    (func (export "through") (param i32) (result i32) (i32.add (i32.const 100) (call $leaf (local.get 0)))))`);
  const { through } = new WebAssembly.Instance(new WebAssembly.Module(plain), { env: { leaf } }).exports;
  table.set(0, through);
  await assert.rejects(exports.f(1), { code: "cannot-suspend" });
});

test("a tag of another window is the same tag to two modules with the instructions", () => {
  const imports = { m: { tag: new Tag({ parameters: ["i32"] }) } };
  const tag = '(import "m" "tag" (tag $tag (param i32)))';
  const instance = (text, more) =>
    new lowering.Instance(new lowering.Module(assemble(text)), { m: { ...imports.m, ...more } }).exports;
  const { give } = instance(`(module ${tag} (func (export "give") (suspend $tag (i32.const 7))))`);
  const { run } = instance(
    `(module ${tag} (type $f (func)) (type $c (cont $f))
      (import "m" "give" (func $give)) (elem declare func $give)
      (func (export "run") (result i32)
        (block $h (result i32 (ref $c))
          (resume $c (on $tag $h) (cont.new $c (ref.func $give)))
          (return (i32.const 0)))
        (drop)))`,
    { give },
  );
  assert.equal(run(), 7);
});

test("a module of another window is instantiated, by each of the namespace's functions", async () => {
  const module = new Module(assemble('(module (func (export "f") (result i32) (i32.const 7)))'));
  assert.equal(new lowering.Instance(module).exports.f(), 7);
  assert.equal((await lowering.instantiate(module)).exports.f(), 7);
});
