// Random modules full of the older exceptions (try, catch, catch_all, delegate, rethrow), byte by byte: assemblers have
// no tries with parameters, and leave out code that is not reached.

import { random } from "./random.mjs";

const number = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...number(n >>> 7)]);
const signed = (n) => (n < 64 ? [n] : [(n & 127) | 128, ...signed(n >>> 7)]);
const vector = (items) => [...number(items.length), ...items.flat()];
const text = (s) => vector([...new TextEncoder().encode(s)].map((byte) => [byte]));
const sized = (bytes) => [...number(bytes.length), ...bytes];
const section = (id, bytes) => [id, ...sized(bytes)];

const I32 = 0x7f;
const MOST = 2; // parameters and results of a block
const TAGS = [0, 1, 2]; // how many parameters each has
const NONE = 0; // the first of them
const WAIT = 0;
const NOTE = 1;
export const FUNCTIONS = 4;
const LOCALS = 3; // beside the parameter
export const FUEL = 40; // jumps back, all together

/** The index of the type with so many parameters and results. */
const type = (params, results) => params * (MOST + 1) + results;

/** Writes the body of a function that may call those with higher numbers. */
function body(index, next) {
  const out = [];
  let size = 90;
  // { label: operands that a branch takes, kind: "block", "try" for its body, "catch" for its other parts }
  const open = [{ label: 1, kind: "block" }];
  const emit = (...bytes) => void out.push(...bytes);
  const constant = (n) => emit(0x41, ...signed(n));

  function expression(depth = 0) {
    size--;
    const kind = size > 0 && depth < 3 ? next(9) : next(2);
    if (kind === 0) return constant(next(40));
    if (kind <= 2) return emit(0x20, next(1 + LOCALS));
    if (kind <= 4) {
      expression(depth + 1);
      expression(depth + 1);
      return emit([0x6a, 0x6b, 0x73][next(3)]);
    }
    if (kind <= 6 && index + 1 < FUNCTIONS && next(3) === 0) {
      expression(depth + 1);
      return emit(0x10, 2 + index + 1 + next(FUNCTIONS - index - 1));
    }
    if (kind <= 7) {
      expression(depth + 1);
      return emit(0x10, WAIT);
    }
    construct(next(MOST + 1), 1);
  }

  /** Ends the code up to the end of the block, or of its part. */
  function jump() {
    const catches = open.flatMap(({ kind }, k) => (kind === "catch" ? [open.length - 1 - k] : []));
    switch (next(catches.length > 0 ? 5 : 3)) {
      case 0: {
        const tag = next(TAGS.length);
        for (let n = TAGS[tag]; n > 0; n--) expression();
        return emit(0x08, tag);
      }
      case 1: {
        const depth = next(open.length);
        for (let n = open[open.length - 1 - depth].label; n > 0; n--) expression();
        return emit(0x0c, depth);
      }
      case 2:
        if (next(4) > 0) return emit(0x01);
        return emit(0x00);
      default:
        return emit(0x09, catches[next(catches.length)]);
    }
  }

  /** Writes a statement, which leaves the stack as it was. */
  function statement() {
    size--;
    switch (next(7)) {
      case 0:
        expression();
        return emit(0x10, NOTE);
      case 1:
      case 2:
        expression();
        return emit(0x21, next(1 + LOCALS));
      case 3: {
        const plain = open.flatMap(({ label }, k) => (label === 0 ? [open.length - 1 - k] : []));
        if (plain.length === 0) return;
        expression();
        constant(3);
        emit(0x71); // i32.and
        emit(0x45, 0x0d, plain[next(plain.length)]);
        return;
      }
      case 4: {
        expression();
        constant(7);
        emit(0x71, 0x45, 0x04, 0x40); // one in eight
        open.push({ label: 0, kind: "block" });
        jump();
        open.pop();
        return emit(0x0b);
      }
      default: {
        const results = next(MOST + 1);
        construct(next(MOST + 1), results);
        for (let n = results; n > 0; n--) emit(0x1a);
      }
    }
  }

  /** Writes what is in a block: it begins with so many operands, and ends with so many. */
  function inside(operands, results) {
    for (; operands > 0 && next(2); operands--) emit(0x21, next(1 + LOCALS));
    for (let n = 1 + next(3); n > 0 && size > 0; n--) statement();
    if (next(5) === 0) {
      jump();
      if (next(2) && size > 0) statement();
    }
    for (; operands > results; operands--) emit(0x1a);
    for (; operands < results; operands++) expression();
  }

  function construct(params, results) {
    for (let n = params; n > 0; n--) expression(1);
    const kind = next(8);
    if (kind === 0) {
      emit(0x03, ...signed(type(params, results)));
      open.push({ label: params, kind: "block" });
      emit(0x10, 2 + FUNCTIONS); // burn
      inside(params, params);
      emit(0x23, 0, 0x0d, 0); // again while there is fuel
      for (let n = params; n > results; n--) emit(0x1a);
      for (let n = params; n < results; n++) expression(1);
    } else if (kind === 1) {
      expression(1);
      emit(0x04, ...signed(type(params, results)));
      open.push({ label: results, kind: "block" });
      inside(params, results);
      emit(0x05);
      inside(params, results);
    } else if (kind === 2) {
      emit(0x02, ...signed(type(params, results)));
      open.push({ label: results, kind: "block" });
      inside(params, results);
    } else {
      emit(0x06, ...signed(type(params, results)));
      const part = { label: results, kind: "try" };
      open.push(part);
      inside(params, results);
      if (next(4) === 0) {
        open.pop();
        return emit(0x18, next(open.length)); // delegate
      }
      part.kind = "catch";
      for (let n = next(3); n > 0; n--) {
        const tag = next(TAGS.length);
        emit(0x07, tag);
        inside(TAGS[tag], results);
      }
      if (next(2)) {
        emit(0x19);
        inside(0, results);
      }
    }
    open.pop();
    emit(0x0b);
  }

  inside(0, 1);
  emit(0x0b);
  return sized([1, LOCALS, I32, ...out]);
}

/**
 * The module of a seed. It imports env.wait (i32 -> i32) and env.note (i32), and exports functions f0 … (i32 -> i32),
 * the global fuel, which is to be set before each call, and the tags t0 …
 */
export function legacyModule(seed) {
  const next = random(seed);
  const types = [];
  const ints = (n) => vector(Array.from({ length: n }, () => [I32]));
  for (let p = 0; p <= MOST; p++) for (let r = 0; r <= MOST; r++) types.push([0x60, ...ints(p), ...ints(r)]);
  // burn: throws when there is no fuel left
  const burn = [0, 0x23, 0, 0x45, 0x04, 0x40, 0x08, NONE, 0x0b, 0x23, 0, 0x41, 1, 0x6b, 0x24, 0, 0x0b];
  const functions = Array.from({ length: FUNCTIONS }, (_, k) => k);
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(
      2,
      vector([
        [...text("env"), ...text("wait"), 0, type(1, 1)],
        [...text("env"), ...text("note"), 0, type(1, 0)],
      ]),
    ),
    ...section(3, vector([...functions.map(() => [type(1, 1)]), [type(0, 0)]])),
    ...section(13, vector(TAGS.map((n) => [0, type(n, 0)]))),
    ...section(6, vector([[I32, 1, 0x41, ...signed(FUEL), 0x0b]])),
    ...section(
      7,
      vector([
        ...functions.map((k) => [...text(`f${k}`), 0, 2 + k]),
        ...TAGS.map((_, k) => [...text(`t${k}`), 4, k]),
        [...text("fuel"), 3, 0],
      ]),
    ),
    ...section(10, vector([...functions.map((k) => body(k, next)), sized(burn)])),
  ]);
}
