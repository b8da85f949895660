// Guests whose imports and exports have types of the garbage collector's, which not every engine lists. Run over
// web/dist/npm.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { WebAssembly } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

const kinds = hasJSPI ? ["jspi", "unwind"] : ["unwind"];

const TYPES = {
  anyref: "(ref.null none)",
  eqref: "(ref.null none)",
  i31ref: "(ref.i31 (i32.const 7))",
  structref: "(ref.null none)",
  arrayref: "(ref.null none)",
  nullref: "(ref.null none)",
  "(ref null $S)": "(ref.null none)",
  "(ref extern)": "(global.get $e)",
  "(ref null $f)": "(ref.func $g)",
};

const guest = (type, value) =>
  assemble(`(module
    (type $S (struct (field i32)))
    (type $f (func (result i32)))
    (import "m" "wait" (func $wait))
    (import "m" "e" (global $e (ref extern)))
    (import "m" "pass" (func $pass (param ${type}) (result ${type})))
    (import "m" "memory" (memory 1))
    (import "m" "table" (table 1 funcref))
    (global (export "global") (mut ${type}) ${value})
    (table (export "list") 1 (ref null $S))
    (func $g (export "g") (type $f) (call $wait) (i32.const 7))
    (func (export "take") (param ${type}) (result i32) (call $wait) (i32.const 9))
    (func (export "give") (result ${type}) (call $wait) (call $pass ${value})))`);

const imports = (wait) => ({
  m: {
    wait,
    e: "seven",
    pass: (value) => value,
    memory: new globalThis.WebAssembly.Memory({ initial: 1 }),
    table: new globalThis.WebAssembly.Table({ initial: 1, element: "anyfunc" }),
  },
});

for (const [type, value] of Object.entries(TYPES)) {
  for (const stacks of kinds)
    test(`${stacks}: a guest with ${type} in its imports and exports`, async () => {
      const { exports } = await fiberfill.instantiate(
        guest(type, value),
        imports(fiberfill.suspending(async () => {})),
        { stacks },
      );
      const given = await exports.give();
      assert.equal(await exports.g(), 7);
      assert.equal(await exports.take(given), 9);
    });

  test(`so it is under JSPI's names: ${type}`, async () => {
    const module = new WebAssembly.Module(guest(type, value));
    const { exports } = new WebAssembly.Instance(module, imports(new WebAssembly.Suspending(async () => {})));
    const given = await WebAssembly.promising(exports.give)();
    assert.equal(await WebAssembly.promising(exports.g)(), 7);
    assert.equal(await WebAssembly.promising(exports.take)(given), 9);
  });
}

test("what the rewriter refuses has a code", async () => {
  const text = `(module
    (import "m" "wait" (func $wait))
    (func (export "f") (call $wait))
    (func (export "g") (param ${"i32 ".repeat(995)}) (result i32) (call $wait) (local.get 0)))`;
  const imports = { m: { wait: fiberfill.suspending(async () => {}) } };
  await assert.rejects(fiberfill.instantiate(assemble(text), imports, { stacks: "unwind" }), (error) => {
    assert.equal(error.code, "unsupported-module");
    assert.match(error.message, /^cannot lower this module, /);
    return error.cause.name === "CompileError";
  });
});
