// What the tests of system S (docs/rules.md) have in common: modules with stack-switching instructions, run through
// fiberfill/webassembly.

import assert from "node:assert/strict";
import { WebAssembly as lowering } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";

export { lowering };

// A continuation type is named by what it takes and what it returns: $k_i takes nothing and returns an i32.
const PRELUDE = `
  (type $f (func)) (type $k (cont $f))
  (type $f_i (func (result i32))) (type $k_i (cont $f_i))
  (type $fi (func (param i32))) (type $ki (cont $fi))
  (type $fi_i (func (param i32) (result i32))) (type $ki_i (cont $fi_i))
  (type $fii_i (func (param i32 i32) (result i32))) (type $kii_i (cont $fii_i))
  (import "env" "see" (func $see (param i32)))`;
const TAGS = `
  (tag $ask (param i32) (result i32))
  (tag $tell (param i32))
  (tag $stop)
  (tag $error (param i32))`;

/** The bytes of a module: what all have, and then the body. What the body takes a reference of is declared. */
export function binary(body, tags = TAGS) {
  const functions = [...new Set([...body.matchAll(/ref\.func (\$\w+)/g)].map(([, name]) => name))];
  const declared = functions.length > 0 ? `(elem declare func ${functions.join(" ")})` : "";
  const imports = [...body.matchAll(/^\s*\(import .*\)$/gm)].map(([line]) => line);
  const rest = imports.reduce((text, line) => text.replace(line, ""), body);
  return assemble(`(module ${PRELUDE} ${imports.join("\n")} ${tags} ${declared} ${rest})`);
}

/** The exports of such a module, and what it has shown to env.see. */
export function instance(body, imports = {}, options = undefined) {
  const seen = [];
  const env = { see: (value) => void seen.push(value), ...imports.env };
  const module = new lowering.Module(binary(body), options);
  return { seen, ...new lowering.Instance(module, { ...imports, env }).exports };
}

/** Asserts that a call ends in a trap with such a message. */
export const traps = (call, message) =>
  assert.throws(call, (e) => e instanceof WebAssembly.RuntimeError && message.test(e.message), String(message));

export const NULL = /null continuation reference/;
export const CONSUMED = /continuation already consumed/;
export const UNHANDLED = /unhandled tag/;

/** Asserts that a module is invalid, with such a message. */
export function invalid(bytes, message) {
  assert.equal(lowering.validate(bytes), false);
  const refused = (e) => e instanceof WebAssembly.CompileError && message.test(e.message);
  assert.throws(() => new lowering.Module(bytes), refused, String(message));
}

/** Asserts that a module is valid. */
export function valid(bytes) {
  assert.equal(lowering.validate(bytes), true);
  assert.ok(new lowering.Module(bytes) instanceof WebAssembly.Module);
}

const number = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...number(n >>> 7)]);
const vector = (items) => [...number(items.length), ...items.flat()];
const section = (id, items) => {
  const contents = vector(items);
  return items.length > 0 ? [id, ...number(contents.length), ...contents] : [];
};

/**
 * A module byte by byte, for what no assembler writes: types as they are encoded, tags and functions by the numbers of
 * their types, and the instructions of each function.
 */
export function module({ types, tags = [], functions = [], exports = [], start }) {
  const bodies = functions.map(([, ...body]) => [0, ...body, 0x0b]);
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, types),
    ...section(
      3,
      functions.map(([type]) => [type]),
    ),
    ...section(
      13,
      tags.map((type) => [0, type]),
    ),
    ...section(
      7,
      exports.map(([name, f]) => [name.length, ...new TextEncoder().encode(name), 0, f]),
    ),
    ...(start === undefined ? [] : [8, 1, start]),
    ...section(
      10,
      bodies.map((body) => [...number(body.length), ...body]),
    ),
  ]);
}

export const I32 = 0x7f;
export const I64 = 0x7e;
export const CONT = 0x68;
export const NOCONT = 0x75;

/** Types as they are encoded. */
export const func = (params = [], results = []) => [0x60, ...vector(params), ...vector(results)];
export const cont = (type) => [0x5d, type];
export const ref = (type) => [0x64, type];
export const refNull = (type) => [0x63, type];
