// Random programs over the stack-switching instructions agree with a plain interpreter of theirs, which runs each
// function as a generator of JavaScript. Run over web/dist/npm.

import assert from "node:assert/strict";
import { test } from "node:test";
import { WebAssembly as lowering } from "../../web/dist/npm/esm/webassembly.js";
import { assemble } from "./assemble.mjs";

const FUNCTIONS = 5;
const TAGS = 3;
const SLOTS = 2;
const FUEL = 400; // functions entered in one run
const LOG = 1 << 14; // entries

/** A source of numbers that are the same for the same seed. */
function numbers(seed) {
  let state = seed * 2654435761 + 1;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** A program: for each function its statements, which work on one number. The last runs the first and answers it. */
function program(any) {
  const handlers = () =>
    Array.from({ length: TAGS }, (_, tag) => ({ tag, mode: any(6) })).filter(({ mode }) => mode < 5);
  const statement = (depth) => {
    switch (any(depth > 2 ? 7 : 11)) {
      case 0:
        return { op: "compute", c: any(100) };
      case 1:
        return { op: "log" };
      case 2:
      case 3:
        return { op: "suspend", tag: any(TAGS) };
      case 4:
        return { op: "call", f: any(FUNCTIONS), tail: any(6) === 0 };
      case 5:
        return any(3) ? { op: "log" } : { op: "throw" };
      case 6:
        return { op: "resumeKept", slot: any(SLOTS) };
      case 7:
      case 8:
        return {
          op: "run",
          f: any(FUNCTIONS),
          bound: any(3) ? undefined : any(50),
          handlers: handlers(),
          slot: any(SLOTS),
        };
      case 9:
        return { op: "try", body: statements(depth + 1), all: any(2) === 0 };
      default:
        return { op: "loop", times: 1 + any(3), body: statements(depth + 1) };
    }
  };
  const statements = (depth) => Array.from({ length: 1 + any(4) }, () => statement(depth));
  const answers = Array.from({ length: TAGS }, (_, tag) => ({ tag, mode: 0 }));
  const main = [{ op: "run", f: 0, bound: undefined, handlers: answers, slot: 0 }, { op: "log" }];
  return [...Array.from({ length: FUNCTIONS }, () => statements(0)), main];
}

class Thrown {
  constructor(value) {
    this.value = value;
  }
}

class Trap extends Error {}

/** Runs a program. A handler's mode is what it does with a suspension: 0, 1 resume, 2 drop, 3 throw into it, 4 keep. */
function interpret(functions, start) {
  let fuel = FUEL;
  const log = [];
  const slots = [];
  const say = (v) => {
    if (log.push(v | 0) >= LOG) throw new Trap();
  };
  function* enter(f, a) {
    if (--fuel < 0) return a;
    const local = { a };
    return (yield* block(functions[f], local)) ? local.result : local.a;
  }
  // Returns whether the function has returned.
  function* block(list, local) {
    for (const s of list) {
      switch (s.op) {
        case "compute":
          local.a = (Math.imul(local.a, 3) + s.c) | 0;
          break;
        case "log":
          say(local.a);
          break;
        case "suspend":
          local.a = (local.a + (yield { tag: s.tag, payload: local.a })) | 0;
          break;
        case "call":
          if (s.tail && !local.guarded) {
            local.result = yield* enter(s.f, local.a);
            return true;
          }
          local.a = yield* enter(s.f, local.a);
          break;
        case "throw":
          throw new Thrown(local.a);
        case "run": {
          const first = s.bound === undefined ? local.a : (local.a + s.bound) | 0;
          const stack = enter(s.f, first);
          local.a = yield* drive(stack, () => stack.next(), s.handlers, s.slot);
          break;
        }
        case "resumeKept": {
          const stack = slots[s.slot];
          slots[s.slot] = undefined;
          const value = local.a;
          if (stack) local.a = yield* drive(stack, () => stack.next(value), [], 0);
          break;
        }
        case "try":
          try {
            local.guarded = (local.guarded ?? 0) + 1;
            yield* block(s.body, local);
            local.guarded--;
          } catch (error) {
            local.guarded--;
            if (!(error instanceof Thrown)) throw error;
            local.a = s.all ? (local.a + 1) | 0 : error.value ^ 5;
            say(local.a);
          }
          break;
        case "loop":
          for (let k = 0; k < s.times; k++) if (yield* block(s.body, local)) return true;
      }
    }
    return false;
  }
  function* drive(stack, begin, handlers, slot) {
    let step = begin();
    for (;;) {
      if (step.done) return step.value;
      const { tag, payload } = step.value;
      const handler = handlers.find((h) => h.tag === tag);
      if (!handler) {
        let answer;
        try {
          answer = yield step.value;
        } catch (error) {
          step = stack.throw(error);
          continue;
        }
        step = stack.next(answer);
        continue;
      }
      say(payload);
      switch (handler.mode) {
        case 2:
          return (payload + 7) | 0;
        case 3:
          handlers = [];
          step = stack.throw(new Thrown(payload));
          break;
        case 4:
          slots[slot] = stack;
          return payload;
        default:
          step = stack.next((Math.imul(payload, 2) + 1) | 0);
      }
    }
  }
  let outcome;
  try {
    const step = enter(FUNCTIONS, start).next();
    outcome = step.done ? step.value : "trap";
  } catch (error) {
    if (!(error instanceof Thrown || error instanceof Trap)) throw error;
    outcome = error instanceof Thrown ? `thrown ${error.value}` : "trap";
  }
  return { outcome, log };
}

/** The same program as WebAssembly text. */
function text(functions) {
  let labels = 0;
  const say = (value) => `(call $say ${value})`;
  const statement = (s, guarded) => {
    const n = labels++;
    switch (s.op) {
      case "compute":
        return `(local.set $a (i32.add (i32.mul (local.get $a) (i32.const 3)) (i32.const ${s.c})))`;
      case "log":
        return say("(local.get $a)");
      case "suspend":
        return `(local.set $a (i32.add (local.get $a) (suspend $t${s.tag} (local.get $a))))`;
      case "call":
        return s.tail && !guarded
          ? `(return_call $f${s.f} (local.get $a))`
          : `(local.set $a (call $f${s.f} (local.get $a)))`;
      case "throw":
        return "(throw $e (local.get $a))";
      case "run": {
        const fresh =
          s.bound === undefined
            ? `(cont.new $k (ref.func $f${s.f}))`
            : `(cont.bind $k2 $k (i32.const ${s.bound}) (cont.new $k2 (ref.func $b${s.f})))`;
        const done = `$done${n}`;
        const act = ({ mode }) =>
          [
            "(local.set $v (i32.add (i32.mul (local.get $p) (i32.const 2)) (i32.const 1)))",
            "(local.set $v (i32.add (i32.mul (local.get $p) (i32.const 2)) (i32.const 1)))",
            `(br ${done} (i32.add (local.get $p) (i32.const 7)))`,
            `(br ${done} (resume_throw $k $e (local.get $p) (local.get $c)))`,
            `(table.set $slots (i32.const ${s.slot}) (local.get $c)) (br ${done} (local.get $p))`,
          ][mode];
        const clauses = s.handlers.map(({ tag }) => `(on $t${tag} $h${n}_${tag})`).join(" ");
        let code = `(br ${done} (resume $k ${clauses} (local.get $v) (local.get $c)))`;
        for (const h of s.handlers.toReversed()) {
          code = `(block $h${n}_${h.tag} (result i32 (ref $k)) ${code})
            (local.set $c) (local.set $p) ${say("(local.get $p)")} ${act(h)} (br $again${n})`;
        }
        return `(local.set $c ${fresh}) (local.set $v (local.get $a))
          (local.set $a (block ${done} (result i32) (loop $again${n} ${code}) (unreachable)))`;
      }
      case "resumeKept":
        return `(local.set $c (table.get $slots (i32.const ${s.slot})))
          (table.set $slots (i32.const ${s.slot}) (ref.null $k))
          (if (i32.eqz (ref.is_null (local.get $c)))
            (then (local.set $a (resume $k (local.get $a) (local.get $c)))))`;
      case "try": {
        const body = s.body.map((x) => statement(x, true)).join("\n");
        return s.all
          ? `(block $next${n} (block $all${n} (try_table (catch_all $all${n}) ${body}) (br $next${n}))
              (local.set $a (i32.add (local.get $a) (i32.const 1))) ${say("(local.get $a)")})`
          : `(block $next${n} (block $e${n} (result i32) (try_table (catch $e $e${n}) ${body}) (br $next${n}))
              (local.set $a (i32.xor (i32.const 5))) ${say("(local.get $a)")})`;
      }
      case "loop":
        return `(local.set $i${n} (i32.const 0)) (loop $l${n} ${s.body.map((x) => statement(x, guarded)).join("\n")}
          (local.set $i${n} (i32.add (local.get $i${n}) (i32.const 1)))
          (br_if $l${n} (i32.lt_u (local.get $i${n}) (i32.const ${s.times}))))`;
    }
  };
  const body = (list) => {
    const code = list.map((s) => statement(s, false)).join("\n");
    const counters = [...new Set(code.match(/\$i\d+/g))].map((name) => `(local ${name} i32)`).join(" ");
    return `(local $c (ref null $k)) (local $v i32) (local $p i32) ${counters}
      (global.set $fuel (i32.sub (global.get $fuel) (i32.const 1)))
      (if (i32.lt_s (global.get $fuel) (i32.const 0)) (then (return (local.get $a))))
      ${code} (local.get $a)`;
  };
  return `(module
    (type $f (func (param i32) (result i32))) (type $k (cont $f))
    (type $f2 (func (param i32 i32) (result i32))) (type $k2 (cont $f2))
    ${Array.from({ length: TAGS }, (_, k) => `(tag $t${k} (param i32) (result i32))`).join(" ")}
    (tag $e (export "e") (param i32))
    (memory (export "memory") 2) (table $slots ${SLOTS} (ref null $k))
    (global $fuel (mut i32) (i32.const ${FUEL})) (global $count (export "count") (mut i32) (i32.const 0))
    (elem declare func ${functions.map((_, k) => `$f${k} $b${k}`).join(" ")})
    (func $say (param i32)
      (i32.store (i32.shl (global.get $count) (i32.const 2)) (local.get 0))
      (global.set $count (i32.add (global.get $count) (i32.const 1)))
      (if (i32.ge_u (global.get $count) (i32.const ${LOG})) (then (unreachable))))
    ${functions.map((list, k) => `(func $f${k} (param $a i32) (result i32) ${body(list)})`).join("\n")}
    ${functions
      .map((_, k) => `(func $b${k} (type $f2) (call $f${k} (i32.add (local.get 0) (local.get 1))))`)
      .join("\n")}
    (func (export "run") (param i32) (result i32) (call $f${FUNCTIONS} (local.get 0))))`;
}

function execute(functions, start) {
  const { run, memory, count, e } = new lowering.Instance(new lowering.Module(assemble(text(functions)))).exports;
  let outcome;
  try {
    outcome = run(start);
  } catch (error) {
    if (error instanceof WebAssembly.Exception && error.is(e)) outcome = `thrown ${error.getArg(e, 0)}`;
    else if (error instanceof WebAssembly.RuntimeError) outcome = "trap";
    else throw error;
  }
  return { outcome, log: [...new Int32Array(memory.buffer, 0, count.value)] };
}

const seeds = Number(process.env.SEEDS ?? 200);
const from = Number(process.env.FROM ?? 1);

test(`${seeds} random programs do what the interpreter does`, () => {
  let entries = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const functions = program(numbers(seed));
    const wanted = interpret(functions, seed);
    entries += wanted.log.length;
    assert.deepEqual(execute(functions, seed), wanted, `seed ${seed}`);
  }
  assert.ok(entries > 10 * seeds, `the programs do too little: ${entries}`);
});
