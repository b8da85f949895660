// Stacks of our own, for engines without JSPI and for users who ask for them: the guest, and the modules that are
// generated for it, are rewritten so that their functions can be left and entered again (package polyfill/lower). A
// stack that waits is a continuation, some frames in the engine's heap. Only memory limits their number, and a dropped
// one is garbage.
//
// Fibers go on in a loop in wasm (jsglue/lower/fiber.wat), on a flat stack: when a fiber waits, the next one has been
// named and goes on as soon as the first has left its stack, without a microtask in between. A loop in this file,
// around that one, begins fibers and handles their ends. The scheduler's turns bound both loops.
// Why: RATIONALE.md, "Why do fibers on stacks of our own go on in a loop?".

import { isGlobal, isTable } from "../values.js";
import { importsOf } from "../guest/descriptors.js";
import { shared } from "../lower/driver.js";
import { restore, standsIn } from "../lower/frames.js";
import { link } from "../lower/link.js";
import { isRewritten, load, loadNow, lower } from "../lower/rewriter.js";
import { WebAssembly } from "../platform.js";
import { refuse, refuseWith, Waiting, waitTag } from "../lower/waits.js";
import { isJavaScriptCore } from "./javascriptcore.js";
import { generatedModule, guestModule, guestModuleLater, linked, waitsModule } from "./modules.js";
import { cells, GIVEN, LAST, NEXT, share, ASKING } from "./cells.js";
import type { Jumping, Runner, Stack, Substrate, Yields } from "./substrate.js";
import type { Core } from "../turn/core.js";
import { LITTLE, needRoom, PLENTY } from "../turn/room.js";
import { enters, hurry, leaves, start, tell, Yielding } from "./yields.js";
import fiberBytes from "../../lower/fiber.wasm";

/** jsglue/lower/fiber.wat */
interface FiberModule {
  slots: WebAssembly.Table;
  begin(job: Function, runner: Runner, slot: number): number;
  goOn(slot: number): number;
  drop(slot: number): void;
  grow(n: number): void;
  memory: WebAssembly.Memory;
  able(): number;
}

/** What this substrate takes from the rest of fiberfill: the script tag loads it as a file of its own. */
export interface Needs {
  /** Calls fn in a microtask. */
  soon(fn: () => void): void;
  /** Makes an error that ends the stack it is thrown on. */
  deadly(): unknown;
  /** Thrown where an import would have to wait and cannot. */
  SuspendError: new (message?: string) => Error;
  /** Asks the scheduler. */
  ask(question: (core: Core) => number): number;
  /** Obeys a command of the scheduler's. */
  run(command: number): void;
}

/** How many frames lie between the guest's frames and the import that waits: see module.ts. */
const trampolines = (): number => Number(isJavaScriptCore());

const LEFT = {}; // what leave returns
const ENDED = {}; // the outcome of a wait that the stack is not to go on after

// The answer of an import that has not waited, until the import's other half takes it.
const NONE = {};
let answer: unknown = NONE;

const free: number[] = []; // slots
const stacks: (Unwound | undefined)[] = []; // by slot

function slot(): number {
  if (free.length === 0) {
    const { length } = stacks;
    const n = Math.max(16, length);
    fiber!.grow(n);
    stacks.length += n;
    for (let i = length + n; --i >= length;) free.push(i);
  }
  return free.pop()!;
}

// Its methods are private in TypeScript only: for private methods of the language, V8 keeps a field in every object.
class Unwound implements Stack {
  slot = -1; // its place in the table of continuations; -1: it has not begun, or has ended
  #outcome: unknown = undefined; // an error is kept, to complete its stack if it ends the call
  failed = false; // its wait has ended with an error
  waits = false; // it waits: of several calls that end the wait, the first counts

  constructor(readonly runner: Runner) {
    runner.stack = this;
  }

  leave(): unknown {
    if (this === first) shift(); // an overflow has kept it from taking the outcome of its last wait
    this.waits = true;
    return LEFT;
  }

  goOn(value: unknown): void {
    this.wake(value, false);
  }

  fail(error: unknown): void {
    this.wake(error, true);
  }

  end(): void {
    this.wake(ENDED, false);
  }

  private wake(outcome: unknown, failed: boolean): void {
    if (!this.waits) return;
    this.waits = false;
    this.#outcome = outcome;
    this.failed = failed;
    ready(this);
  }

  get frames(): readonly string[] | undefined {
    return this.waits ? standsIn(fiber!.slots.get(this.slot), 1 + trampolines()) : undefined;
  }

  /** Whether the loop in wasm can make it go on. */
  get goesOn(): boolean {
    return this.slot >= 0 && this.#outcome !== ENDED;
  }

  /** The outcome of its wait, which its import returns or throws as it goes on. */
  take(): unknown {
    const outcome = this.#outcome;
    if (this.failed) throw outcome;
    this.#outcome = undefined;
    return outcome;
  }

  /** Begins it. If it has ended, returns a function to call then. */
  begin(): (() => void) | undefined {
    stacks[(this.slot = slot())] = this;
    enters(this.runner, this.slot);
    const last = cells[LAST]!;
    const outer = beginning;
    cells[LAST] = -1;
    beginning = this;
    try {
      return fiber!.begin(this.runner.job, this.runner, this.slot) ? undefined : this.returned();
    } catch (error) {
      return this.trapped(error);
    } finally {
      cells[LAST] = last;
      beginning = outer;
    }
  }

  /**
   * Goes on with it, and then with the stacks that are named next. If one has ended, returns a function to call then.
   */
  run(): (() => void) | undefined {
    try {
      const waits = fiber!.goOn(this.slot);
      tell();
      if (waits) return undefined;
      const last = stacks[cells[LAST]!]!;
      if (last === first) shift(); // the engine could not give it the outcome of its wait, which it has caught
      if (last.runner.threw) restore(last.runner.result, last.failed ? last.#outcome : LEFT, trampolines());
      return last.returned();
    } catch (error) {
      tell();
      if (cells[ASKING]) {
        cells[ASKING] = 0;
        needs.ask(() => {
          throw error;
        });
      }
      const last = stacks[cells[LAST]!]!;
      if (last === first) shift(); // the same, or an overflow
      restore(error, LEFT, 0);
      return last.trapped(error);
    }
  }

  /** Ends it where it waits. Returns a function to call then. */
  over(): () => void {
    return this.trapped(this.runner.dead ? undefined : needs.deadly());
  }

  private returned(): () => void {
    this.leaveSlot();
    return () => this.runner.returned();
  }

  private trapped(error: unknown): () => void {
    answer = NONE;
    if (this.slot >= 0) fiber!.drop(this.slot);
    this.leaveSlot();
    return () => this.runner.trapped(error);
  }

  private leaveSlot(): void {
    if (this.slot < 0) return;
    leaves(this.runner);
    stacks[this.slot] = undefined;
    free.push(this.slot);
    this.slot = -1;
  }
}

// The stacks that go on next. The scheduler names one fiber at a time, so there is hardly ever more than one.
let first: Unwound | undefined;
const others: Unwound[] = [];
let beginning: Unwound | undefined; // the one that runs if none has gone on last
let running = false; // the loop is
let plainly = false; // it is inside a plain call, so that nothing in it may wait

function ready(stack: Unwound): void {
  if (first) {
    others.push(stack);
    return;
  }
  become(stack);
  if (!running) needs.soon(loop);
}

function become(stack: Unwound | undefined): void {
  first = stack;
  cells[NEXT] = stack?.goesOn ? stack.slot : -1;
  cells[GIVEN] = stack === undefined ? 0 : 1;
}

/** Takes the first of them, which goes on, begins or ends now. */
function shift(): Unwound {
  const stack = first!;
  become(others.length > 0 ? others.shift() : undefined);
  return stack;
}

function loop(): void {
  running = true;
  try {
    // Code that awaits a fiber that has ended runs before the next fiber: it may cancel that fiber, or start others.
    for (let over; !over && first;) {
      over = first.goesOn ? first.run() : first.slot < 0 ? shift().begin() : shift().over();
      if (over) over();
    }
  } finally {
    running = false;
    if (first) needs.soon(loop);
  }
}

function begin(runner: Runner): void {
  ready(new Unwound(runner));
}

function beginHere(runner: Runner): void {
  const outer = plainly;
  plainly = false;
  const over = new Unwound(runner).begin();
  plainly = outer;
  if (over) needs.soon(over);
}

/** The loop inside a plain call. What waits outside of it is put aside. */
function inside<A extends unknown[], T>(fn: (...args: A) => T, args: A): T {
  const outer = first;
  const queue = others.length > 0 ? others.splice(0) : undefined;
  const [last, ran, was] = [cells[LAST]!, running, plainly];
  if (outer) become(undefined);
  running = plainly = true;
  try {
    return fn(...args);
  } finally {
    try {
      while (first) (first.goesOn ? first.run() : first.slot < 0 ? shift().begin() : shift().over())?.();
    } finally {
      cells[LAST] = last;
      running = ran;
      plainly = was;
      if (queue) others.push(...queue);
      if (outer) become(outer);
    }
  }
}

function runs(stack: Stack | undefined): boolean {
  const last = cells[LAST]!;
  return stack === (last < 0 ? beginning : stacks[last]);
}

function waits(fn: (...args: any[]) => unknown, yields?: Yields): Waiting {
  const waiting = new Waiting(
    (cannot, ...args) => {
      const { direct } = fn as Jumping;
      if ((cannot || plainly) && !direct) refuse();
      needRoom(cannot && direct ? PLENTY : LITTLE);
      const result = cannot ? direct!(...args) : fn(...args);
      answer = NONE;
      if (result === LEFT) return 1;
      answer = result;
      cells[GIVEN] = 1;
      return 0;
    },
    () => {
      if (answer === NONE) return first && shift().take();
      const result = answer;
      answer = NONE;
      cells[GIVEN] = first === undefined ? 0 : 1;
      return result;
    },
  );
  return yields ? new Yielding(waiting, yields) : waiting;
}

function instance(bytes: Uint8Array, imports: Record<string, unknown>): WebAssembly.Instance {
  const made = linked(generatedModule(bytes), imports);
  const { wait } = imports as Record<string, Record<string, unknown>>;
  for (const i in wait) {
    const value = wait[i];
    if (value instanceof Yielding) hurry(imports as any, made.exports, i, value);
  }
  return made;
}

let needs: Needs;
let fiber: FiberModule | undefined;

/**
 * Loads the rewriter, and returns the substrate. Rejects if the engine lacks the features that frames need, or if the
 * guest has been rewritten before.
 */
export async function unwinding(given: Needs, guest: Uint8Array): Promise<Substrate> {
  await load();
  if (isRewritten(guest)) throw new WebAssembly.CompileError(AGAIN);
  return unwindingNow(given);
}

const AGAIN =
  "fiberfill: this module has been rewritten already, which it must not be if its imports are to wait; give " +
  "fiberfill the module as its compiler made it";

/** The same at once, whatever the guest. */
export function unwindingNow(given: Needs): Substrate {
  if (!fiber) {
    loadNow();
    needs = given;
    refuseWith(given.SuspendError);
    const module = new WebAssembly.Module(lower(fiberBytes, false, undefined, true)! as BufferSource);
    let can = 0;
    const able = new Waiting(
      (cannot) => ((can = Number(!cannot)), 0),
      () => can,
    );
    for (const half of [able.begin, able.end]) shared().lowered.add(half); // no barrier: fibers that yield call it
    fiber = linked(module, { host: { wait: waitTag() }, wait: { able } }).exports as unknown as FiberModule;
    share(fiber.memory);
    start({ needs, memory: fiber.memory, slots: fiber.slots, able: fiber.able, stacks });
  }
  return substrate;
}

const substrate: Substrate = {
  begin,
  beginHere,
  inside,
  needRoom: () => needRoom(LITTLE),
  runs,
  waits,
  instance,
  async guest(module, shape, given, functions) {
    const lowered = await guestModuleLater(module, shape, functions, (fn) => fn === undefined);
    const [imports, made] = link(lowered, given);
    const instance = await WebAssembly.instantiate(lowered, imports);
    made(instance);
    return instance;
  },
  bare(module, shape, functions) {
    const waiting = Uint8Array.from(functions, (fn) => (fn instanceof Waiting ? 1 : 0));
    const { exports } = waiting.includes(1)
      ? linked(waitsModule(module, shape, waiting), { wait: { ...functions } })
      : ({ exports: {} } as WebAssembly.Instance);
    const own = functions.map((fn, i) => exports[`f${i}`] ?? fn);
    const given: Record<string, Record<string, unknown>> = {};
    importsOf(module, shape).forEach(({ module: from, name }, i) => ((given[from] ??= {})[name] = own[i]));
    const lowered = guestModule(module, shape, own, () => false);
    return linked(lowered, given);
  },
};

/**
 * Whether an import of a guest may be left, or lead to code that may be: functions of rewritten instances, tables, and
 * globals that hold a function, or null in the place of one.
 */
export function mayBeLeft(value: unknown): boolean {
  if (!fiber) return false;
  if (isTable(value) || shared().lowered.has(Object(value))) return true;
  if (!isGlobal(value)) return false;
  try {
    return value.value === null || typeof value.value === "function";
  } catch {
    return false; // its type is one that JavaScript has no values of
  }
}
