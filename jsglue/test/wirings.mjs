// Wirings: programs of several instances that call each other, made at random from a seed, and what each of their calls
// must return. The same program is played on the engine's own JSPI and on ours.
//
// An instance has functions f0 to f3. Each calls only functions with a smaller number, of any instance: through an
// import, through a function that a third instance exports again, or through a table. f3 is not exported: JavaScript
// finds it in a table. A function keeps words in a frame on its shadow stack and checks them after everything that it
// does. What decides its next step is in locals, which nothing overwrites. So a program with corrupted stacks still
// runs to its end, and its results show the corruption.

import { assemble } from "./assemble.mjs";

const STACK = 65536; // bytes: instance i's own stack ends at (i + 1) * STACK
const HEAP = 32; // pages of each instance's malloc
const PAGES = 16 + 4 * HEAP;
const PATIENCE = 50; // turns of the event loop without progress: a call whose stack is corrupted may never end
const BAD = 1000003; // a function adds this to its result if its frame has changed

/** Numbers that look random, and are the same for the same seed. */
export function random(seed) {
  let state = (seed * 2654435761 + 1) >>> 0;
  const next = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return (state ^ (state >>> 12)) >>> 0;
  };
  const below = (n) => next() % n;
  return { below, chance: (percent) => below(100) < percent, pick: (list) => list[below(list.length)] };
}

/** The import wait returns this for its argument, or throws if it `rejects`. */
export const brings = (v) => (Math.imul(v, 7) + 3) | 0;
export const rejects = (v) => Math.imul(v, 0x9e3779b1) >>> 0 < 0x1000_0000;
/** The word that is written to the caller's frame when its wait ends. */
export const written = (v) => v ^ 0x5a5a;

/** Makes a program: its instances, in the order in which they are made, and which of their functions are called. */
export function wiring(seed) {
  const { below, chance, pick } = random(seed);
  const overlapped = chance(60);
  const keeping = chance(50) ? ["malloc"] : chance(50) ? ["malloc", "grow"] : ["malloc", "grow", "none"];
  const instances = Array.from({ length: 2 + below(3) }, (_, i) => ({ i, slots: [], again: new Set() }));
  const tables = Array.from({ length: 1 + below(2) }, (_, t) => ({ t, owner: pick([-1, 0, below(instances.length)]) }));
  for (const one of instances) {
    const { i } = one;
    const others = instances.slice(0, i).filter(({ memory }) => memory);
    const joined = others.length > 0 && chance(40) ? pick(others) : undefined;
    one.space = joined ? joined.space : i; // whose memory it has
    const near = instances.slice(0, i).filter(({ space, pointer }) => space === one.space && pointer !== "none");
    one.pointer = chance(20) ? "none" : near.length > 0 && chance(60) ? pick(near).i : chance(15) ? "host" : "own";
    one.memory = one.pointer !== "none" || joined || chance(50);
    one.hosted = one.space === i && chance(20); // its memory is JavaScript's
    one.keeping = pick(keeping);
    one.exported = chance(70); // its pointer, by name
    one.functions = [0, 1, 2, 3].map((level) => ({
      level,
      frame: 1 + below(3),
      ops: Array.from({ length: 1 + below(3) }, () => op(one, level)),
    }));
  }
  if (!instances.some(waits)) instances.at(-1).functions[0].ops.push({ kind: "wait", late: false, add: 1 });
  if (overlapped && instances.some(crowded)) for (const each of instances.flatMap(all)) each.late = false;
  return { seed, overlapped, instances, tables, entries: entries() };

  function op(one, level) {
    const kind = pick(
      level === 0 ? ["wait", "wait", "push", "host"] : ["wait", "call", "call", "call", "push", "host"],
    );
    const caught = chance(25);
    if (kind === "wait") return { kind, caught, late: chance(30), add: below(50) };
    if (kind === "host") return { kind, id: below(8) };
    if (kind === "push") return { kind, add: below(50) };
    const to = pick(instances);
    const target = { j: to.i, f: below(level) };
    return { kind, caught, add: below(50), target, way: way(one, target) };
  }

  /** How an instance calls a function: its own, through an import, or through a table that both can have. */
  function way(one, { j, f }) {
    if (j === one.i) return { by: "self" };
    const between = instances.slice(j + 1, one.i);
    if (j < one.i && between.length > 0 && chance(25)) {
      const via = pick(between);
      via.again.add(`${j}:${f}`);
      return { by: "import", from: via.i, name: `r${j}f${f}` };
    }
    if (j < one.i && chance(50)) return { by: "import", from: j, name: `f${f}` };
    const { t, owner } = pick(tables);
    const has = owner <= one.i;
    const table = has ? t : -1; // a table of its own that JavaScript fills
    const fillers = table < 0 ? [] : instances.filter(({ i }) => i >= j && i >= owner);
    const filler = fillers.length > 0 && chance(70) ? pick(fillers) : undefined;
    const owned = table < 0 ? one.i : undefined;
    const slot = { table, owned, j, f, n: slots++ };
    if (filler) filler.slots.push(slot);
    else sets.push(slot);
    return { by: "table", ...slot };
  }

  function entries() {
    return Array.from({ length: 2 + below(2) }, () => ({ j: pick(instances).i, f: pick([1, 2, 2, 3]) }));
  }
}

let slots = 0;
let sets = [];

/** Makes a whole program: a wiring, the slots of its tables, and what JavaScript puts into them. */
export function program(seed) {
  slots = 0;
  sets = [];
  const made = wiring(seed);
  return { ...made, sets, slots };
}

const all = ({ functions }) => functions.flatMap(({ ops }) => ops);
const waits = (one) => all(one).some(({ kind }) => kind === "wait");

/**
 * Whether all calls of an instance share its one stack, because its allocator finds what memory grows by, or nobody
 * knows whose memory it is. What is written to the frames of a waiting call may then be lost while others run.
 */
const crowded = ({ pointer, keeping }) =>
  pointer !== "none" && (keeping === "none" || (keeping === "grow" && pointer !== "own"));

/** Returns what a call must return, or throws what it must throw. */
export function expected({ instances }, { j, f }, v) {
  let sum = v;
  for (const { kind, caught, late, add, target } of instances[j].functions[f].ops) {
    const arg = (v + add) | 0;
    if (kind === "push") sum = (sum + arg) | 0;
    if (kind !== "wait" && kind !== "call") continue;
    try {
      if (kind === "call") sum = (sum + expected({ instances }, target, arg)) | 0;
      else if (rejects(arg)) throw new Rejected(arg);
      else sum = (sum + brings(arg) + (late && instances[j].pointer !== "none" ? written(arg) : 0)) | 0;
    } catch (error) {
      if (!caught) throw error;
      sum = (sum + 77) | 0;
    }
  }
  return sum;
}

export class Rejected extends Error {
  constructor(v) {
    super(`rejected: ${v}`);
  }
}

/** Returns the text of an instance's module. */
export function text({ instances, tables, slots, entries }, i) {
  const one = instances[i];
  const stack = one.pointer !== "none";
  const imports = new Map();
  const bring = (from, name) =>
    imports.set(`$m${from}_${name}`, `(import "m${from}" "${name}" (func $m${from}_${name} (param i32) (result i32)))`);
  for (const { ops } of one.functions) for (const { way } of ops) if (way?.by === "import") bring(way.from, way.name);
  for (const each of one.again) bring(...each.split(":").map((n, k) => (k === 0 ? n : `f${n}`)));
  for (const { j, f } of one.slots) if (j !== i) bring(j, `f${f}`);
  const out = [...imports.values()];
  if (waits(one)) out.push('(import "env" "wait" (func $wait (param i32 i32) (result i32)))');
  if (all(one).some(({ kind }) => kind === "host")) out.push('(import "env" "host" (func $host (param i32)))');
  const used = new Set([
    ...one.slots.map(({ table }) => table),
    ...one.functions.flatMap(({ ops }) => ops.flatMap(({ way }) => (way?.by === "table" ? [way.table] : []))),
    ...tables.filter(({ owner }) => owner === i).map(({ t }) => t),
  ]);
  const defined = [];
  for (const t of used) {
    const mine = t < 0 || tables[t].owner === i;
    if (mine) defined.push(`(table $t${t < 0 ? "own" : t} (export "t${t < 0 ? "own" : t}") ${slots + 1} funcref)`);
    else out.push(`(import "tables" "t${t}" (table $t${t} ${slots + 1} funcref))`);
  }
  if (one.memory) {
    if (one.space === i && !one.hosted) defined.push(`(memory (export "memory") ${PAGES} 4000)`);
    else out.push(`(import "space" "memory" (memory ${PAGES} 4000))`);
  }
  if (stack) {
    const exported = one.exported ? '(export "__stack_pointer")' : '(export "sp")';
    if (one.pointer === "own") defined.push(`(global $sp ${exported} (mut i32) (i32.const ${(i + 1) * STACK}))`);
    else {
      out.push('(import "env" "__stack_pointer" (global $sp (mut i32)))');
      defined.push('(export "sp" (global $sp))');
    }
  }
  if (one.memory && one.keeping === "malloc") {
    defined.push(`(global $heap (mut i32) (i32.const ${65536 * (16 + i * HEAP)}))
  (func (export "malloc") (param $n i32) (result i32)
    (global.set $heap (i32.add (global.get $heap) (local.get $n)))
    (i32.sub (global.get $heap) (local.get $n)))
  (func (export "free") (param i32))`);
  }
  if (one.memory && one.keeping === "none")
    defined.push('(func (export "more") (result i32) (drop (memory.grow (i32.const 1))) (memory.size))');
  if (all(one).some(({ way }) => way?.by === "table")) out.unshift("(type $f (func (param i32) (result i32)))");
  if (stack) defined.push(helpers);
  if (entries.some(({ j, f }) => j === i && f === 3))
    defined.push('(table $hidden (export "hidden") 1 funcref) (elem (table $hidden) (i32.const 0) func $f3)');
  const bodies = one.functions.map((each) => body(one, each));
  const exports = [...one.again].map((each) => {
    const [j, f] = each.split(":");
    return `(export "r${j}f${f}" (func $m${j}_f${f}))`;
  });
  const fills = one.slots.map(
    ({ table, j, f, n }) => `(elem (table $t${table}) (i32.const ${n}) func ${j === i ? `$f${f}` : `$m${j}_f${f}`})`,
  );
  return `(module ${[...out, ...defined, ...bodies, ...exports, ...fills].join("\n  ")})`;
}

export const bytes = (made, i) => assemble(text(made, i));

/** $fill writes n words made of v to all of a frame but its first word; $sound checks them. */
const helpers = `(func $word (param $v i32) (param $n i32) (result i32)
    (i32.add (i32.mul (local.get $v) (i32.const 31)) (i32.mul (local.get $n) (i32.const 7919))))
  (func $fill (param $at i32) (param $v i32) (param $n i32)
    (loop $more
      (i32.store
        (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2))) (call $word (local.get $v) (local.get $n)))
      (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
  (func $sound (param $at i32) (param $v i32) (param $n i32) (result i32)
    (loop $more
      (if (i32.ne (i32.load (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2))))
                  (call $word (local.get $v) (local.get $n))) (then (return (i32.const 0))))
      (br_if $more (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.const 1))
  (func $push (param $v i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 96))))
    (call $fill (local.get $frame) (local.get $v) (i32.const 23))
    (if (i32.eqz (call $sound (local.get $frame) (local.get $v) (i32.const 23)))
      (then (local.set $v (i32.const ${BAD}))))
    (global.set $sp (i32.add (local.get $frame) (i32.const 96)))
    (local.get $v))
  (func (export "plain") (param $v i32) (result i32) (local $frame i32)
    (global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const 32))))
    (call $fill (local.get $frame) (local.get $v) (i32.const 7))
    (local.set $v (i32.add (local.get $v) (i32.sub (call $push (local.get $v)) (local.get $v))))
    (if (i32.eqz (call $sound (local.get $frame) (local.get $v) (i32.const 7)))
      (then (local.set $v (i32.const ${BAD}))))
    (global.set $sp (i32.add (local.get $frame) (i32.const 32)))
    (local.get $v))`;

function body({ i, pointer }, { level, frame, ops }) {
  const stack = pointer !== "none";
  const size = 16 * frame;
  const words = 4 * frame - 1;
  const at = stack ? "(local.get $frame)" : "(i32.const 0)";
  const arg = (add) => `(i32.add (local.get $v) (i32.const ${add}))`;
  const plus = (value) => `(local.set $sum (i32.add (local.get $sum) ${value}))`;
  const lines = ops.map(({ kind, caught, late, add, id, target, way }) => {
    let does;
    if (kind === "host") does = `(call $host (i32.const ${id}))`;
    else if (kind === "push") does = plus(stack ? `(call $push ${arg(add)})` : arg(add));
    else if (kind === "wait") {
      does = plus(`(call $wait ${arg(add)} ${late ? at : "(i32.const 0)"})`);
      if (late && stack) does += plus("(i32.load (local.get $frame))");
    } else if (way.by === "self") does = plus(`(call $f${target.f} ${arg(add)})`);
    else if (way.by === "import") does = plus(`(call $m${way.from}_${way.name} ${arg(add)})`);
    else {
      const table = way.table < 0 ? "own" : way.table;
      does = plus(`(call_indirect $t${table} (type $f) ${arg(add)} (i32.const ${way.n}))`);
    }
    if (caught) {
      const back = stack ? "(global.set $sp (local.get $frame))" : "";
      const caughtIt = `${back} ${plus("(i32.const 77)")}`;
      does = `(block $done (block $thrown (try_table (catch_all $thrown) ${does}) (br $done)) ${caughtIt})`;
    }
    const look = `(if (i32.eqz (call $sound (local.get $frame) (local.get $v) (i32.const ${words})))
      (then ${plus(`(i32.const ${BAD})`)}))`;
    return does + (stack ? look : "");
  });
  const enter = `(global.set $sp (local.tee $frame (i32.sub (global.get $sp) (i32.const ${size}))))
    (call $fill (local.get $frame) (local.get $v) (i32.const ${words}))`;
  const leave = `(global.set $sp (i32.add (local.get $frame) (i32.const ${size})))`;
  const exported = level < 3 ? `(export "f${level}")` : "";
  return `(func $f${level} ${exported} (param $v i32) (result i32) (local $frame i32) (local $sum i32)
    (local.set $sum (local.get $v))
    ${stack ? enter : ""}
    ${lines.join("\n    ")}
    ${stack ? leave : ""}
    (local.get $sum))`;
}

/**
 * Makes the instances of a program and calls them. Returns for each call the expected and the actual result. Whoever
 * plays, the calls are the same, as long as nothing is overwritten.
 */
export async function play(made, player, modules) {
  const { instances, tables, sets, slots, overlapped, entries, seed } = made;
  const { below, chance, pick } = random(seed + 7777);
  const spaces = instances.map(({ hosted }) =>
    hosted ? new WebAssembly.Memory({ initial: PAGES, maximum: 4000 }) : undefined,
  );
  const host = tables.map(({ owner }) =>
    owner < 0 ? new WebAssembly.Table({ element: "anyfunc", initial: slots + 1 }) : undefined,
  );
  const live = [];
  const pending = [];
  const calls = [];
  let nested = 0;

  for (const one of instances) {
    const { i, space, pointer } = one;
    const memory = () => spaces[space] ?? live[space].exports.memory;
    const wait = (v, at) =>
      new Promise((resolve, reject) => {
        const write = at > 0 && new Int32Array(memory().buffer);
        if (at > 0) write[at >> 2] = written(v);
        pending.push({ v, at, memory, resolve, reject });
      });
    const hosted = (id) => {
      const other = instances[id % instances.length];
      if (other.pointer !== "none" && id % 3 > 0) plain(other.i, 90000 + id);
      if (overlapped && id % 3 === 0 && calls.length > 0 && nested++ < 3) start(entries[id % entries.length]);
    };
    const imports = {
      env: {
        wait: player.suspending(wait),
        host: hosted,
        __stack_pointer:
          typeof pointer === "number"
            ? live[pointer].pointer
            : pointer === "host"
              ? (one.global = new WebAssembly.Global({ value: "i32", mutable: true }, (i + 1) * STACK))
              : undefined,
      },
      tables: Object.fromEntries(tables.map(({ t, owner }) => [`t${t}`, host[t] ?? live[owner]?.exports[`t${t}`]])),
      space: { memory: space === i ? spaces[i] : memory() },
    };
    live.forEach(({ exports }, j) => (imports[`m${j}`] = exports));
    const instance = await player.instantiate(modules[i], imports);
    live.push({
      ...instance,
      exports: instance.exports,
      pointer:
        one.global ??
        (typeof pointer === "number"
          ? live[pointer].pointer
          : (instance.exports.__stack_pointer ?? instance.exports.sp)),
    });
  }
  for (const { table, owned, j, f, n } of sets) {
    const object =
      table < 0 ? live[owned].exports.town : (host[table] ?? live[tables[table].owner].exports[`t${table}`]);
    object.set(n, live[j].exports[`f${f}`]);
  }

  function plain(j, v) {
    calls.push({ what: `plain of ${j}`, expected: v, value: live[j].exports.plain(v), ended: true });
  }

  function start(entry) {
    const v = 1000 * calls.length;
    const call = { what: `f${entry.f} of ${entry.j}`, ended: false };
    calls.push(call);
    try {
      call.expected = expected(made, entry, v);
    } catch ({ message }) {
      call.expected = message;
    }
    const end = (value) => Object.assign(call, { value, ended: true });
    try {
      const { exports } = live[entry.j];
      const f = entry.f === 3 ? exports.hidden.get(0) : exports[`f${entry.f}`];
      player
        .promising(f)(v)
        .then(end, (error) => end(error?.message));
    } catch (error) {
      end(error.message);
    }
    return call;
  }

  /** Resolves when every call waits or has ended, or nothing moves any more. */
  async function settled() {
    for (let i = 0; i < PATIENCE; i++) {
      await new Promise(setImmediate);
      if (calls.filter(({ ended }) => !ended).length <= pending.length) return;
    }
  }

  function settle() {
    const [{ v, at, memory, resolve, reject }] = pending.splice(below(pending.length), 1);
    if (at > 0 && player.late) {
      const words = new Int32Array(memory().buffer);
      words[at >> 2] = written(v);
    }
    if (rejects(v)) reject(new Rejected(v));
    else resolve(brings(v));
  }

  const some = instances.filter(({ pointer }) => pointer !== "none");
  const between = () => {
    if (some.length > 0 && chance(30)) plain(pick(some).i, 80000 + calls.length);
  };
  for (let count = overlapped ? 6 : 3; count > 0 || calls.some(({ ended }) => !ended);) {
    const free = overlapped || calls.every(({ ended }) => ended);
    if (count > 0 && free && (pending.length === 0 || chance(50))) {
      count--;
      start(pick(entries));
      between();
    } else if (pending.length > 0) {
      for (let n = overlapped ? 1 + below(3) : 1; n > 0 && pending.length > 0; n--) settle();
    } else break; // nothing moves
    await settled();
    between();
  }
  return calls;
}

/** Whether a call returned what it must. */
export const right = ({ expected, value, ended }) => ended && value === expected;
