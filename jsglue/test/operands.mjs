// Random modules of code that compilers hardly make: operands that lie below whole constructs, constructs with several
// parameters and results, values of subtypes where a supertype is declared, branches of all kinds with values. The code
// is valid by how it is made: the generator keeps the types of the operands.
//
// A function calls only functions behind it, and every branch back uses up fuel, so each call ends.

import { random } from "./random.mjs";

/** Value types: how they are encoded, and their supertypes. */
const types = {
  i32: { code: [0x7f], above: [] },
  i64: { code: [0x7e], above: [] },
  f64: { code: [0x7c], above: [] },
  extern: { code: [0x6f], above: [] },
  any: { code: [0x6e], above: [] },
  i31: { code: [0x6c], above: ["any"] },
  someI31: { code: [0x64, 0x6c], above: ["i31", "any"] },
  func: { code: [0x70], above: [] },
  answer: { code: [0x63, 0], above: ["func"] }, // (ref null $answer), the type of the function at FIRST
  someAnswer: { code: [0x64, 0], above: ["answer", "func"] },
};
const names = Object.keys(types);
const fits = (a, b) => a === b || types[a].above.includes(b);

const FUEL = 0; // the global
const FIRST = 4; // the first function behind the imports
const FUNCTIONS = 6;
// All of them may wait: (i32) -> i32, () -> i32, (extern) -> extern, () -> ().
const imports = [
  [["i32"], ["i32"]],
  [[], ["i32"]],
  [["extern"], ["extern"]],
  [[], []],
];

const number = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...number(n >> 7)]);
const signed = (n) => (n < 64 ? [n] : n < 128 ? [n | 128, 0] : [(n & 127) | 128, ...signed(n >> 7)]);
const vector = (list) => [...number(list.length), ...list.flat()];
const sized = (bytes) => [...number(bytes.length), ...bytes];
const section = (id, contents) => [id, ...sized(contents)];
const text = (s) => vector([...new TextEncoder().encode(s)].map((c) => [c]));
const codes = (list) => vector(list.map((name) => types[name].code));

/** Returns the module of a seed. */
export function operandModule(seed) {
  const next = random(seed);
  const pick = (list) => list[next(list.length)];
  const some = (most) => Array.from({ length: next(most + 1) }, () => pick(names));
  const signatures = [];
  const typeOf = (params, results) => {
    const code = [0x60, ...codes(params), ...codes(results)];
    const at = signatures.findIndex((s) => s.join() === code.join());
    return at < 0 ? signatures.push(code) - 1 : at;
  };
  typeOf([], ["i32"]); // $answer
  const functions = [...imports];
  functions.push([[], ["i32"]]);
  while (functions.length < FIRST + FUNCTIONS) functions.push([some(3), some(2)]);

  const body = (index) => {
    const [params, results] = functions[index];
    const own = [...some(5), "i32", "i32"].filter((name) => !name.startsWith("some"));
    const locals = [...params, ...own];
    const code = [];
    const emit = (...bytes) => code.push(...bytes);
    let stack = [];
    const labels = [{ takes: results }];
    let budget = 30 + next(60);

    /** Pushes a value of a type, or of a subtype. */
    const push = (name) => {
      const places = locals.flatMap((t, i) => (fits(t, name) ? [i] : []));
      const calls = functions.flatMap(([takes, gives], i) =>
        (i < FIRST || i > index) && gives.length === 1 && fits(gives[0], name) && takes.length < 2 ? [i] : [],
      );
      let got = name;
      if (places.length > 0 && next(2) > 0) {
        const at = pick(places);
        emit(0x20, at);
        got = locals[at];
      } else if (calls.length > 0 && next(2) > 0 && budget-- > 0) {
        const at = pick(calls);
        for (const t of functions[at][0]) push(t);
        stack.length -= functions[at][0].length;
        emit(0x10, at);
        got = functions[at][1][0];
      } else if (name === "i32") emit(0x41, ...signed(next(64)));
      else if (name === "i64") emit(0x42, ...signed(next(64)));
      else if (name === "f64") emit(0x44, 0, 0, 0, 0, 0, 0, next(64), 0x40);
      else if (name === "extern") emit(0xd0, 0x6f);
      else if (["any", "i31"].includes(name) && next(4) === 0) emit(0xd0, 0x6c);
      else if (["any", "i31", "someI31"].includes(name)) {
        emit(0x41, ...signed(next(64)), 0xfb, 0x1c);
        got = "someI31";
      } else if (name !== "someAnswer" && next(4) === 0) emit(0xd0, 0);
      else {
        emit(0xd2, FIRST);
        got = "someAnswer";
      }
      stack.push(got);
    };
    const pushAll = (list) => list.forEach((name) => push(name));
    const pop = (n) => stack.splice(stack.length - n, n);
    const reset = (list) => (stack = [...list]);
    /** Makes the operands of this block what they have to be at its end, without touching those that fit. */
    const finish = (list) => {
      let keep = Math.min(stack.length, list.length);
      while (!stack.slice(0, keep).every((t, i) => fits(t, list[i]))) keep--;
      while (stack.length > keep) (emit(0x1a), stack.pop());
      list.slice(keep).forEach((name) => push(name));
    };
    /** Leaves on the stack whether there is fuel, and uses some up. */
    const burn = () => {
      emit(0x23, FUEL, 0x41, 1, 0x6b, 0x24, FUEL, 0x23, FUEL, 0x41, 0, 0x4a);
    };
    const inside = (params, results, takes, loop, depth) => {
      const outer = stack;
      reset(params);
      labels.unshift({ takes, loop });
      sequence(depth + 1);
      if (loop && next(2) === 0) {
        finish(takes);
        burn();
        emit(0x0d, 0);
        reset(takes);
      }
      finish(results);
      labels.shift();
      stack = outer;
    };
    const construct = (depth) => {
      const kind = next(4);
      if (kind === 2) push("i32");
      const condition = kind === 2 ? pop(1) : [];
      // The declared types of the parameters may be supertypes of the operands'.
      const taken = pop(next(Math.min(3, stack.length) + 1));
      const params = taken.map((t) => pick([t, ...types[t].above]));
      const results = some(2);
      const type = signed(typeOf(params, results));
      if (kind === 0) {
        emit(0x02, ...type);
        inside(params, results, results, false, depth);
      } else if (kind === 1) {
        emit(0x03, ...type);
        inside(params, results, params, true, depth);
      } else if (condition.length > 0) {
        emit(0x04, ...type);
        inside(params, results, results, false, depth);
        emit(0x05);
        inside(params, results, results, false, depth);
      } else {
        emit(0x1f, ...type, 0); // try_table without a clause
        inside(params, results, results, false, depth);
      }
      emit(0x0b);
      stack.push(...results);
    };
    const branch = () => {
      const to = next(labels.length);
      const { takes, loop } = labels[to];
      pushAll(takes);
      if (loop) burn();
      else (push("i32"), pop(1));
      emit(0x0d, to);
      pop(takes.length);
      stack.push(...takes);
    };
    const branchOnNull = () => {
      const to = next(labels.length);
      const { takes, loop } = labels[to];
      if (loop) return;
      pushAll(takes);
      push(pick(["i31", "answer", "any"]));
      const [t] = pop(1);
      emit(0xd5, to);
      pop(takes.length);
      stack.push(...takes, { i31: "someI31", answer: "someAnswer" }[t] ?? t);
      if (t === "any") (emit(0x1a), stack.pop()); // there is no name here for what is left
    };
    /** Ends the block's code by a branch to one of several labels that take the same. */
    const branchTable = () => {
      const { takes } = pick(labels.filter(({ loop }) => !loop));
      const same = labels.flatMap((l, i) => (!l.loop && l.takes.join() === takes.join() ? [i] : []));
      pushAll(takes);
      push("i32");
      const list = Array.from({ length: next(4) }, () => pick(same));
      emit(0x0e, ...vector(list.map((to) => [to])), pick(same));
    };
    const sequence = (depth) => {
      for (let n = 1 + next(8); n > 0 && budget-- > 0; n--) {
        switch (next(12)) {
          case 0:
          case 1:
            push(pick(names));
            break;
          case 2:
          case 3: {
            const at = pick(functions.flatMap((_, i) => (i < FIRST || i > index ? [i] : [])));
            const [takes, gives] = functions[at];
            pushAll(takes);
            emit(0x10, at);
            pop(takes.length);
            stack.push(...gives);
            break;
          }
          case 4: {
            const at = next(locals.length);
            push(locals[at]);
            emit(next(2) ? 0x21 : 0x22, at);
            if (code.at(-2) === 0x21) pop(1);
            else stack[stack.length - 1] = locals[at];
            break;
          }
          case 5:
            if (stack.at(-1) === "i32") {
              push("i32");
              emit(pick([0x6a, 0x6b, 0x6c, 0x73]));
              pop(1);
            } else if (["i31", "someI31", "any", "func", "answer", "someAnswer", "extern"].includes(stack.at(-1))) {
              emit(0xd1); // ref.is_null
              stack[stack.length - 1] = "i32";
            }
            break;
          case 6:
          case 7:
          case 8:
            if (depth < 5) construct(depth);
            break;
          case 9:
            branch();
            break;
          case 10:
            branchOnNull();
            break;
          case 11:
            if (next(3) > 0) break;
            branchTable();
            stack = [];
            return;
        }
      }
    };
    // A branch may end a block's code; what follows is never executed, and its operands are new.
    const whole = () => {
      sequence(0);
      finish(results);
    };
    whole();
    emit(0x0b);
    return sized([...vector(own.map((name) => [1, ...types[name].code])), ...code]);
  };

  const bodies = functions.slice(FIRST).map((_, i) => body(FIRST + i));
  const used = functions.map(([params, results]) => typeOf(params, results));
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(signatures)),
    ...section(2, vector(imports.map((_, i) => [...text("env"), ...text(i < 3 ? "answer" : "log"), 0, used[i]]))),
    ...section(3, vector(used.slice(FIRST).map((t) => number(t)))),
    ...section(6, vector([[0x7f, 1, 0x41, ...signed(50), 0x0b]])),
    ...section(
      7,
      vector(
        ["fuel", ...bodies.map((_, i) => `g${i}`)].map((name, i) => [
          ...text(name),
          ...(i === 0 ? [3, FUEL] : [0, FIRST + i - 1]),
        ]),
      ),
    ),
    ...section(10, vector(bodies)),
  ]);
}
