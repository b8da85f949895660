// Stacks of our own, for engines without JSPI, and for who asks: the guest, and what is generated for it, is rewritten
// so that its functions can be left and entered again (package polyfill/lower). A stack that waits is a continuation,
// some frames in the engine's heap; there is no limit to them but memory, and one that is dropped is garbage.
//
// Fibers go on in a loop here, on a flat stack: a fiber that waits has named the next one, which goes on when the first
// has been left, without a microtask in between. The scheduler's turns bound that.
// Why: RATIONALE.md, "Why do fibers on stacks of our own go on in a loop?".

import { shared } from "../lower/driver.js";
import { restore, standsIn } from "../lower/frames.js";
import { instantiate, link } from "../lower/link.js";
import { isRewritten, load, loadNow, lower } from "../lower/rewriter.js";
import { WebAssembly } from "../platform.js";
import { refuseWith, Waiting, waitTag } from "../lower/waits.js";
import type { Shape } from "../guest/module.js";
import { isJavaScriptCore } from "./javascriptcore.js";
import type { Runner, Stack, Substrate } from "./substrate.js";
import fiberBytes from "../../lower/fiber.wasm";

/** jsglue/lower/fiber.wat */
interface FiberModule {
  slots: WebAssembly.Table;
  begin(job: Function, runner: Runner, slot: number): number;
  goOn(slot: number): number;
  drop(slot: number): void;
  grow(n: number): void;
}

/** What this substrate takes from the rest of fiberfill: the script tag loads it as a file of its own. */
export interface Needs {
  /** Calls fn in a microtask. */
  soon(fn: () => void): void;
  /** An error that ends the stack it is thrown on. */
  deadly(): unknown;
  /** Thrown where an import would have to wait and cannot. */
  SuspendError: new (message?: string) => Error;
}

/** How many frames lie between a guest's and the import that waits: see module.ts. */
const trampolines = (): number => Number(isJavaScriptCore());

const LEFT = {}; // what leave returns

// What the import of the stack that goes on next returns or throws.
let outcome: unknown;
let failed = false;

const free: number[] = []; // slots
let slots = 0;

function slot(): number {
  if (free.length === 0) {
    const n = Math.max(16, slots);
    fiber!.grow(n);
    for (slots += n; free.length < n;) free.push(slots - 1 - free.length);
  }
  return free.pop()!;
}

// What a stack does, or what its import is to do when it goes on.
const RUNS = 0;
const WAITS = 1;
const RETURNS = 2;
const THROWS = 3;
const ENDS = 4;

class Unwound implements Stack {
  #slot = -1; // where it goes on; -1: it has not begun, or has ended
  #outcome: unknown = undefined;
  #state: number = RUNS; // one field, as a million of these may wait

  constructor(readonly runner: Runner) {
    runner.stack = this;
  }

  leave(): unknown {
    this.#state = WAITS;
    return LEFT;
  }

  goOn(value: unknown): void {
    this.#wake(value, RETURNS);
  }

  fail(error: unknown): void {
    this.#wake(error, THROWS);
  }

  end(): void {
    this.#wake(undefined, ENDS);
  }

  #wake(outcome: unknown, state: number): void {
    if (this.#state !== WAITS) return; // what ends a wait first counts
    this.#state = state;
    this.#outcome = outcome;
    ready(this);
  }

  get frames(): readonly string[] | undefined {
    return this.#state === WAITS ? standsIn(fiber!.slots.get(this.#slot), 1 + trampolines()) : undefined;
  }

  /** Runs until it is left, or has ended. Returns what is to be done in the latter case. */
  run(): (() => void) | undefined {
    const { runner } = this;
    const waited = this.#slot >= 0;
    const state = this.#state;
    const brought = this.#outcome;
    if (state === ENDS) {
      fiber!.drop(this.#slot);
      const error = needs.deadly();
      return this.#over(() => runner.trapped(error));
    }
    try {
      if (!waited) {
        if (fiber!.begin(runner.job, runner, (this.#slot = slot()))) return undefined;
      } else {
        outcome = brought;
        failed = state === THROWS;
        this.#outcome = undefined;
        if (fiber!.goOn(this.#slot)) return undefined;
      }
      if (waited && runner.threw) restore(runner.result, state === THROWS ? brought : LEFT, trampolines());
      return this.#over(() => runner.returned());
    } catch (error) {
      fiber!.drop(this.#slot);
      if (waited) restore(error, LEFT, 0);
      return this.#over(() => runner.trapped(error));
    }
  }

  #over(then: () => void): () => void {
    if (this.#slot >= 0) free.push(this.#slot);
    this.#slot = -1;
    return then;
  }
}

// Who goes on next. The scheduler names one fiber at a time, so it is hardly ever more than one.
let first: Unwound | undefined;
const others: Unwound[] = [];
let running = false; // the loop is

function ready(stack: Unwound): void {
  if (first) {
    others.push(stack);
    return;
  }
  first = stack;
  if (!running) needs.soon(loop);
}

function loop(): void {
  running = true;
  try {
    // Who awaits a fiber that has ended comes before the next one: it may cancel that, or start others.
    for (let stack, over; !over && (stack = first);) {
      first = others.length > 0 ? others.shift() : undefined;
      over = stack.run();
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
  const over = new Unwound(runner).run();
  if (over) needs.soon(over);
}

function waits(fn: (...args: any[]) => unknown): Waiting {
  return new Waiting(
    (...args) => {
      const answer = fn(...args);
      if (answer === LEFT) return 1;
      outcome = answer;
      failed = false;
      return 0;
    },
    () => {
      const value = outcome;
      outcome = undefined;
      if (failed) throw value;
      return value;
    },
  );
}

function instance(bytes: Uint8Array, imports: Record<string, unknown>): WebAssembly.Instance {
  return instantiate(lower(bytes, true, undefined, true) ?? bytes, imports);
}

let needs: Needs;
let fiber: FiberModule | undefined;

/**
 * Loads the rewriter, and returns the substrate. Rejects if the engine lacks what frames are made of, and if the guest
 * has been rewritten before.
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
    const module = lower(fiberBytes, true)!;
    fiber = instantiate(module, { host: { wait: waitTag() } }).exports as unknown as FiberModule;
  }
  return substrate;
}

const substrate: Substrate = {
  begin,
  beginHere,
  waits,
  instance,
  async guest(module, shape, given, functions) {
    const marks = marksOf(functions, (fn) => fn === undefined);
    // Not at once: some engines refuse that to a page if a module is large.
    const lowered = known(module, marks) ?? keep(module, marks, await WebAssembly.compile(...rewrite(shape, marks)));
    const [imports, made] = link(lowered, given);
    const instance = await WebAssembly.instantiate(lowered, imports);
    made(instance);
    return instance;
  },
};

/** Whether what a guest imports may be left, or lead to what may: functions of rewritten instances, and tables. */
export function mayBeLeft(value: unknown): boolean {
  return fiber !== undefined && (value instanceof WebAssembly.Table || shared().lowered.has(Object(value)));
}

// Modules as they have been rewritten, by which of their imports may be left.
const cache = new WeakMap<WebAssembly.Module, Map<string, WebAssembly.Module>>();

const known = (module: WebAssembly.Module, marks: Uint8Array) => cache.get(module)?.get(marks.join());

function keep(module: WebAssembly.Module, marks: Uint8Array, lowered: WebAssembly.Module): WebAssembly.Module {
  let all = cache.get(module);
  if (!all) cache.set(module, (all = new Map()));
  all.set(marks.join(), lowered);
  return lowered;
}

/** Only what can reach a function that can be left is changed: imports that wait, functions of rewritten instances. */
function marksOf(functions: readonly unknown[], waits: (fn: unknown) => boolean): Uint8Array {
  const { lowered } = shared();
  return Uint8Array.from(functions, (fn) => (waits(fn) || lowered.has(Object(fn)) ? 1 : 0));
}

/** Rewrites a guest. Returns what the platform is to compile, with the options that it was compiled with before. */
function rewrite({ bytes, options }: Shape, marks: Uint8Array): [BufferSource, ...any[]] {
  return [(lower(bytes!, true, marks) ?? bytes!) as BufferSource, options];
}

/** Rewrites a guest at once, and links it. */
export function rewritten(
  module: WebAssembly.Module,
  shape: Shape,
  given: WebAssembly.Imports,
  functions: readonly unknown[],
  waits: (fn: unknown) => boolean,
): { module: WebAssembly.Module; imports: WebAssembly.Imports; made: (instance: WebAssembly.Instance) => void } {
  const marks = marksOf(functions, waits);
  const lowered = known(module, marks) ?? keep(module, marks, new WebAssembly.Module(...rewrite(shape, marks)));
  const [imports, made] = link(lowered, given);
  return { module: lowered, imports, made };
}
