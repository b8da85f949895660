// An import that gives an object for a number: most likely nobody has told how it gets to the guest's memory. Run over
// web/dist/npm.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { assemble } from "./assemble.mjs";
import { hasJSPI } from "./engine.mjs";

afterEach(() => assert.deepEqual(fiberfill.fibers(), [], "no fiber is left"));

const guest = (type) =>
  assemble(`(module
    (import "env" "get" (func $get (result ${type})))
    (func (export "call") (result ${type}) (call $get)))`);

const kinds = hasJSPI ? ["jspi", "unwind"] : ["unwind"];
const objects = () => [new Uint8Array(3), new ArrayBuffer(3), { n: 5 }, [5], Object.freeze([7])];

for (const stacks of kinds)
  for (const how of ["at once", "by a Promise"]) {
    const giving = (value) => fiberfill.suspending(how === "at once" ? () => value : async () => value);
    const call = async (type, value) => {
      const { exports } = await fiberfill.instantiate(guest(type), { env: { get: giving(value) } }, { stacks });
      return await exports.call();
    };

    test(`${stacks}: an object that is given ${how}, for a number, is refused, and deliver is named`, async () => {
      for (const type of ["i32", "i64", "f32", "f64"])
        for (const object of objects().slice(0, -1)) {
          await assert.rejects(call(type, object), {
            code: "bad-import",
            message: /^import env\.get has given an object of type \w+, for a number; let a second function, passed /,
          });
          for (let i = 0; i < 3; i++) await null;
          assert.equal(Object.hasOwn(object, "valueOf"), false);
        }
    });

    test(`${stacks}: an object that is given ${how}, for a reference, is passed on as it is`, async () => {
      for (const object of objects()) {
        assert.equal(await call("externref", object), object);
        for (let i = 0; i < 3; i++) await null;
        assert.equal(Object.hasOwn(object, "valueOf"), false);
      }
    });

    test(`${stacks}: what has a value of its own is converted by the engine, ${how}`, async () => {
      assert.equal(await call("i32", new Date(7)), 7);
      assert.equal(await call("i32", Object(8)), 8);
      assert.equal(await call("f64", { valueOf: () => 1.5 }), 1.5);
      assert.equal(await call("i32", null), 0);
      assert.equal(await call("i32", "12"), 12);
    });
  }

for (const stacks of kinds)
  test(`${stacks}: so it is in a plain call, in which an import may answer, and not wait`, async () => {
    const get = fiberfill.suspending(() => new Uint8Array(3));
    const { instance } = await fiberfill.instantiate(guest("i32"), { env: { get } }, { stacks });
    assert.throws(() => instance.exports.call(), {
      code: "bad-import",
      message: /an object of type Uint8Array, for a/,
    });
  });

test("a call that is cancelled as the object comes is cancelled", async () => {
  let give;
  const get = fiberfill.suspending(() => new Promise((resolve) => (give = resolve)));
  const { exports } = await fiberfill.instantiate(guest("i32"), { env: { get } });
  const call = exports.call();
  while (!give) await new Promise((resolve) => setTimeout(resolve));
  call.cancel("enough");
  give(new Uint8Array(3));
  await assert.rejects(call, (reason) => reason === "enough");
});
