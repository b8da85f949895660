// Imports that only yield, on stacks of our own: the way from one fiber to the next stays in wasm (jsglue/lower/
// yield.wat) as long as nobody in JavaScript has to know. The scheduler is asked as always. What JavaScript knows of
// each fiber is updated before any code of JavaScript runs: barriers call `tell`, and so does the code that leaves the
// loop.
//
// A fiber may yield in this way if JavaScript would have nothing to check, and go on in this way if JavaScript would
// have nothing to do. Both are checked once, and again after JavaScript has run.
// Why: RATIONALE.md, "Why does a yield on stacks of our own not tell JavaScript?".

import yieldBytes from "../../lower/yield.wasm";
import type { Call } from "../guest/call.js";
import { shared } from "../lower/driver.js";
import { link } from "../lower/link.js";
import { lower } from "../lower/rewriter.js";
import { Waiting } from "../lower/waits.js";
import { WebAssembly } from "../platform.js";
import { idle as rest, recent, steps } from "../turn/clock.js";
import { INDEX, type Core } from "../turn/core.js";
import { enter } from "../turn/observe.js";
import { room, roomAndGuard, type Room } from "../turn/room.js";
import { cells, END, entry, GIVEN, IMPORT, LAST, LINK, NEWS, OWN, SLOT, STEPS, WAITS, YIELDS } from "./cells.js";
import type { Yields } from "./substrate.js";
import type { Needs } from "./unwind.js";

/** A stack of unwind.ts. */
export interface Yielder {
  readonly runner: object;
  /** It waits, so JavaScript may make it go on. */
  waits: boolean;
  /** Its last wait has thrown. */
  failed: boolean;
}

/** What this takes from unwind.ts. */
export interface Loop {
  needs: Needs;
  memory: WebAssembly.Memory;
  /** The continuations that wait. */
  slots: WebAssembly.Table;
  /** Whether an import could wait now. */
  able(): number;
  /** By slot. */
  stacks: readonly (Yielder | undefined)[];
}

let imports = 0; // how many have been numbered; the numbers begin at 1
// The names of imports by which fibers yield without JavaScript. Nothing here refers to an import, since that would
// keep its guest alive.
const names = new WeakMap<Call, string>();

let loop: Loop;
let core: Core | undefined;
let compiled: WebAssembly.Module;
let takesPlain: WebAssembly.Module | undefined;
let functions: Record<string, Function>;

/** An import that only yields, and how JavaScript does it. */
export class Yielding extends Waiting {
  constructor(
    { begin, end }: Waiting,
    readonly yields: Yields,
  ) {
    super(begin, end);
  }
}

/** What a generated module with stubs imports, and what it exports, as far as it concerns the stubs. */
interface Stubs {
  js: { rest?: WebAssembly.Global; resumed(): void };
  guest: { sp?: WebAssembly.Global; memory?: WebAssembly.Memory };
  worker: { shared: WebAssembly.Global };
  slots: Record<string, WebAssembly.Global>;
}

/** Puts a stub that does without JavaScript in front of the stub of an import, if the import's type is plain. */
export function hurry(
  { js, guest, worker, slots }: Stubs,
  { low }: Record<string, unknown>,
  i: string,
  yielding: Yielding,
): void {
  loop.needs.ask((made) => ((core = made), 0));
  const slot = slots[`s${i}`]!;
  const otherwise = slot.value as Function;
  if (!core || !isPlain(otherwise)) return;
  const { driver, lowered } = shared();
  const asks = (number: number): number => may(number, yielding.yields);
  const end = (frames: number): void => {
    try {
      yielding.end();
    } finally {
      if (frames) js.resumed();
    }
  };
  const looks = low ? roomAndGuardOf(guest.memory!) : room();
  if (!looks) return;
  // None of these needs a barrier: `otherwise` can be left, and the others neither can be left nor call what could be.
  for (const fn of [otherwise, core.yield, asks, looks]) lowered.add(fn);
  const none = (): WebAssembly.Global => new WebAssembly.Global({ value: "i32", mutable: true });
  const [given, made] = link(compiled, {
    driver,
    fiber: { memory: loop.memory, slots: loop.slots, told: driver.told },
    stub: {
      otherwise,
      room: looks,
      sp: guest.sp ?? none(),
      rest: guest.sp ? js.rest : none(),
      low: low ?? none(),
    },
    worker,
    core: { yield: core.yield },
    js: { ...functions, may: asks, end, obey: loop.needs.run, import: ++imports },
  });
  const instance = new WebAssembly.Instance(compiled, given);
  made(instance);
  slot.value = instance.exports["stub"];
}

/** Returns undefined for a memory of another kind, such as a shared one. */
function roomAndGuardOf(memory: WebAssembly.Memory): Room | undefined {
  try {
    return roomAndGuard(memory);
  } catch {
    return undefined;
  }
}

/** Whether a function takes and returns nothing. For an import of another type JavaScript has to convert values. */
function isPlain(fn: unknown): boolean {
  try {
    takesPlain ??= new WebAssembly.Module(takesPlainBytes);
    new WebAssembly.Instance(takesPlain, { "": { "": fn as Function } });
    return true;
  } catch {
    return false;
  }
}

// (module (import "" "" (func)))
const takesPlainBytes = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 5, 1, 0, 0, 0, 0);

/** Prepares all this, once. */
export function start(given: Loop): void {
  loop = given;
  compiled = new WebAssembly.Module(lower(yieldBytes, true, Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0))! as BufferSource);
  functions = { now, idle, tell };
  // Neither these functions nor `may` can be left, and none of them calls code that could be: they need no barrier.
  for (const fn of Object.values(functions)) shared().lowered.add(fn);
}

/** A fiber's stack has its slot now. */
export function enters(runner: object, slot: number): void {
  const { reference } = runner as Call;
  if (!reference) return; // the guest's own fiber, which the scheduler does not know
  const at = entry(reference & INDEX);
  cells[at + SLOT] = slot + 1;
  cells[at + IMPORT] = cells[at + YIELDS] = cells[at + WAITS] = cells[at + LINK] = 0;
}

/** A fiber's stack has given back its slot. */
export function leaves(runner: object): void {
  const { reference } = runner as Call;
  if (reference) cells[entry(reference & INDEX) + SLOT] = 0;
}

/** Whether the running fiber may yield by this import without JavaScript. */
function may(number: number, yields: Yields): number {
  const slot = cells[LAST]!;
  if (slot < 0 || cells[GIVEN] || !loop.able() || !loop.needs.ask(() => 1)) return 0;
  const task = loop.stacks[slot]!.runner as Call;
  const name = task.reference !== 0 && yields(task);
  if (!name) return 0;
  names.set(task, name);
  const at = entry(task.reference & INDEX);
  cells[at + IMPORT] = number;
  rest(); // time may have passed: in the script tag, this file has a clock of its own
  cells[STEPS] = 0;
  cells[OWN] = 4 * at;
  return 1;
}

function now(): number {
  const time = recent();
  cells[STEPS] = steps();
  return time;
}

/** Whether this fiber, whose wait JavaScript has begun, can go on without JavaScript having anything to do. */
function idle(command: number): number {
  const at = entry(command & INDEX);
  const stack = loop.stacks[cells[at + SLOT]! - 1]!;
  const task = stack.runner as Call;
  const { held, death, deliver, outcome } = task;
  if (task.runner !== task || !stack.waits || held || death || deliver || outcome !== undefined) return 0;
  stack.waits = false;
  cells[at + IMPORT] = 0; // when it yields again, `may` is asked again
  return 1;
}

/** Updates what JavaScript knows of the fibers that have yielded or gone on without it. */
export function tell(): void {
  const own = cells[OWN]! >> 2;
  if (own === 0) return;
  cells[OWN] = 0;
  const task = (at: number) => loop.stacks[cells[at + SLOT]! - 1]!;
  for (let at; (at = cells[NEWS]!) !== END;) {
    at >>= 2;
    cells[NEWS] = cells[at + LINK]!;
    cells[at + LINK] = 0;
    const stack = task(at);
    const call = stack.runner as Call;
    call.waits += cells[at + YIELDS]!;
    cells[at + YIELDS] = 0;
    stack.failed = false;
    stack.waits = cells[at + WAITS] !== 0;
    if (!stack.waits) continue;
    cells[at + WAITS] = 0;
    call.outcome = call.deliver = call.on = call.awaited = undefined;
    call.waitsFor = names.get(call);
    enter(call, "waiting");
  }
  // The running fiber waits for its turn; its wait has no outcome.
  const { waits, runner } = task(own);
  if (!waits) loop.needs.run((runner as Call).reference);
}
