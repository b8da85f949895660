// What one guest instance has at the border: the memory and the stack pointer that its fibers use, and the JavaScript
// behind its stubs and thunks.

import { FiberError, isA } from "../errors.js";
import { running, thrown, type Call } from "./call.js";
import { counted, suspendingImport } from "../substrate/javascriptcore.js";
import { Cancellable, refuseCircle, type Life } from "../turn/life.js";
import { cancelWait } from "../turn/cancel.js";
import { current } from "../turn/turn.js";
import { complete, sleep, wait, yieldNow } from "../turn/wait.js";
import { WebAssembly } from "../platform.js";
import { reportStacks } from "../turn/report.js";
import type { Turns } from "./serial.js";
import type { Plan, Stacks } from "./stacks.js";
import type { Machine } from "../proposals/load.js";
import type { Region, Regions } from "./regions.js";
import { begins, below, ends, goesOn, settle, shared, waits, type ShadowStack } from "./shadowstack.js";
import { Jump, SLEEP, YIELD, type Suspending } from "./suspending.js";
import { isThenable, then } from "../values.js";
import { visiting, visitorWaits } from "./visitor.js";
import { caught, deadly } from "../substrate/jspi.js";

// Why: RATIONALE.md, "Why does a cancelled guest that goes on waiting end in a trap?".
const PATIENCE = 1000; // waits that a cancelled fiber may begin: enough to clean up

const nothing = (): void => {};

type Deliver = (value: unknown, ...args: unknown[]) => unknown;
type Wait = (task: Call, what: string) => unknown;

export class Binding {
  memory: WebAssembly.Memory | undefined;
  stackPointer: WebAssembly.Global | undefined;
  base = 0; // the stack pointer when no fiber runs
  regions: Regions | undefined;
  parked: WebAssembly.Global | undefined; // where the stack that has begun to wait last ends
  low: WebAssembly.Global | undefined; // where the region of the running fiber begins: what stubs and thunks look at
  machine: Machine | undefined; // of a guest with fibers of its own
  stack: ShadowStack | undefined; // the one that stackPointer points to
  copies = false; // fibers have no regions on it
  turns: Turns | undefined; // calls run one after another
  plan!: Plan; // how their stacks are kept
  stacks!: Stacks; // the same, for users
  begun = 0; // so many calls have, and are not over

  #told = false; // that calls cannot overlap as they should

  #thrown: unknown; // what a user's function threw last

  /**
   * The user's function as the Suspending import behind a stub.
   *
   * @internal (TypeScript's own types do not know WebAssembly.Suspending, so the published ones must not)
   */
  waiting(name: string, mark: Suspending): WebAssembly.Suspending {
    if (mark instanceof Jump) return suspendingImport(mark.fn);
    if (mark.fn === YIELD) {
      return suspendingImport(() => {
        const task = caller(name);
        const refused = this.#before(task, name);
        if (refused) return refused;
        return shared ? this.#park(task, name, yieldNow) : yieldNow(task, name);
      });
    }
    if (mark.fn === SLEEP) {
      return suspendingImport((ms: number) => {
        const task = caller(name);
        return this.#before(task, name) ?? this.#park(task, name, (task, name) => sleep(task, Math.max(0, ms), name));
      });
    }
    const { deliver, always } = mark;
    const fn = counted(mark.fn);
    // The arguments are kept only for who wants them again: the engine makes no array of them then.
    let passed: unknown[];
    const keeping = (...args: unknown[]) => {
      const result = fn(...args);
      passed = args;
      return result;
    };
    const call = deliver ? keeping : fn;
    return suspendingImport((...args: unknown[]) => {
      if (always && foreign()) {
        this.#below();
        return visitorWaits(fn(...args), this);
      }
      const task = caller(name);
      const refused = this.#before(task, name);
      if (refused) return refused;
      let result: unknown;
      task.nested = undefined;
      task.calling = true;
      try {
        result = call(...args);
        if (!always && !isThenable(result)) return result;
      } catch (error) {
        this.#thrown = error;
        throw error;
      } finally {
        task.calling = false;
      }
      const on = Cancellable.lifeOf(result);
      if (on) circle(task, on, result as Promise<unknown>, mark);
      else if (task.nested) refuseNested(task, name);
      // Not result.then: a thenable of the user's must not call back before the fiber waits. [J-IMP-2]
      const promise = Promise.resolve(result);
      const parked = this.#park(task, name, wait);
      const n = task.waits;
      task.on = on;
      task.awaited = promise;
      if (deliver) this.#deliver(task, deliver, passed);
      hear(promise, task, n);
      if (task.cancelled) cancelWait(task); // by fn
      return parked;
    });
  }

  /** What comes before every wait. A fiber that must not wait is ended here, or gets what it waits on instead. */
  #before(task: Call, name: string): unknown {
    // Small, so that the engine puts it into the path of every switch.
    if (task.death || task.cancelled || shared || task.binding !== this || !this.sound(task))
      return this.#look(task, name);
    return undefined;
  }

  /** There can be nothing for overflow to tell. */
  sound(task: Call): boolean {
    return !task.touched && !this.machine;
  }

  #look(task: Call, name: string): unknown {
    const overflow = task.binding.overflow(task, this.end(task));
    task.abroad ||= task.binding !== this;
    task.touched = task.abroad;
    if (overflow || task.death) {
      task.death ??= overflow;
      throw deadly();
    }
    if (task.binding.stack !== this.stack || !task.region) this.#below();
    // Why: RATIONALE.md, "Why is an import not called for a cancelled fiber?".
    if (!task.cancelled) return undefined;
    if (++task.swallowed > PATIENCE) {
      const text =
        `fiber ${task.name} was cancelled and has begun ${PATIENCE} waits since, in export ` +
        `${task.exportName}; it has been ended by a trap`;
      task.death = new FiberError("cancel-ignored", text, { fiber: task.name, cause: task.reason });
      throw deadly();
    }
    // It has swallowed its cancellation and waits again, so it is cancelled again; by way of the scheduler, so that a
    // fiber that takes long to give up does not stop the page.
    const parked = this.#park(task, name, wait);
    complete(task, task.waits, true, task.reason);
    return parked;
  }

  /**
   * Where the stack ends of a fiber that begins to wait for an import of this guest; undefined if that is not known.
   */
  end(task: Call): number | undefined {
    const here = task.binding.stackPointer === this.stackPointer && !task.binding.plan.wanders;
    return here && this.parked ? (this.parked.value as number) >>> 0 : undefined;
  }

  #park(task: Call, name: string, how: Wait): unknown {
    if (shared) waits(task, this);
    return how(task, name);
  }

  /**
   * A marked import is called by whose frames are not in its own region, perhaps: what the function calls in the guest
   * goes below them, as in raw JSPI.
   */
  #below(): void {
    if (this.parked) this.stackPointer!.value = this.parked.value;
  }

  /**
   * Has the wait that has begun end with what deliver makes of its value, called with the fiber's stack in its place.
   */
  #deliver(task: Call, deliver: Deliver, args: unknown[]): void {
    task.deliver = (value, stack) => {
      for (const { stack, saved, low } of task.frames) {
        if (!saved) continue;
        new Uint8Array(stack.memory.buffer).set(saved, low);
        stack.pointer.value = low;
      }
      task.calling = true;
      try {
        const result = deliver(value, ...args);
        if (isThenable(result)) {
          // The stack would go on when that settles, and not when it is its turn.
          Promise.resolve(result).catch(() => {});
          const text = `the deliver function of import ${task.waitsFor} has returned a Promise; it must not wait`;
          throw new FiberError("bad-argument", text, { fiber: task.name });
        }
        stack.goOn(result);
      } catch (error) {
        stack.fail(error);
      } finally {
        task.calling = false;
      }
      // The fiber goes on in a later microtask. Until then others may call the guest.
      for (const frames of task.frames) {
        if (!frames.saved) continue;
        frames.saved = new Uint8Array(frames.stack.memory.buffer).slice(frames.low, frames.high);
        frames.stack.settle();
      }
    };
  }

  /** What module B imports from "js" beside the functions of transfer.ts. */
  glue(always: (i: number) => boolean): Record<string, unknown> {
    return {
      rest: this.stack?.rest,
      size: this.regions?.size,
      start: (call: Call) => this.#start(call),
      failed: (call: Call) => {
        call.threw = true;
        call.result = thrown(call);
      },
      refused: (i: number) => {
        // The user's function may itself have thrown or rejected with one of these: that is no refusal.
        const error = caught();
        return (
          !always(i) && isA(error, WebAssembly.SuspendError) && error !== this.#thrown && error !== current?.outcome
        );
      },
      touched: () => {
        const call = running();
        if (call) call.touched = true; // else a plain call looks at the region of a fiber that ran before
      },
      resumed: () => {
        const holder = running() ?? visiting;
        if (holder) goesOn(holder);
      },
      ended: (call: Call) => {
        call.lost ??= this.#lent(call);
        ends(call);
        settle();
      },
    };
  }

  /** Prepares a fiber that starts. Returns its stack pointer, which is where its region ends, if it has one. */
  #start(task: Call): number {
    if (this.begun++ > 0) this.tell(task);
    if (task.cancelled) throw task.reason; // when the scheduler had named it already
    if (this.regions) {
      task.region = this.regions.take();
      task.region.tenant = task;
    }
    this.machine?.start(task);
    if (shared) begins(task, task.alone);
    return (task.high = task.region?.high ?? (shared ? this.stack?.begin(task) : this.stack?.now) ?? 0);
  }

  /**
   * Makes room on the stack of a fiber that starts for the bytes among its arguments. Returns where; 0 if there is no
   * room.
   */
  makeRoom({ high, region, encoded }: Call): number {
    const top = 16 * Math.floor((high - encoded.size) / 16);
    if (!this.memory || !this.stackPointer || top < (region?.low ?? 0) + 1024) return 0;
    this.stackPointer.value = top;
    return top;
  }

  /** A call cannot overlap others with a stack of its own; tells so, once, if nobody has asked for that. */
  tell(call: Call): void {
    const { told } = this.plan;
    if (!told || this.#told) return;
    this.#told = true;
    reportStacks(call.name, !!this.turns, told);
  }

  /** The guest's memory, which may have grown since the last call. */
  bytes(): Uint8Array {
    return new Uint8Array(this.memory!.buffer);
  }

  /**
   * The error for a fiber that has written below its region, if it has, or has its stack there, which costs the lives
   * of those whose stacks lie there; or for a refused operation that JavaScript below it has kept from ending it. `end`
   * is where its stack ends now, if that is known.
   */
  overflow(task: Call, end = Infinity): FiberError | undefined {
    if (this.machine?.failure) return this.machine.failure;
    const { region } = task.runner;
    if (region && (end < region.low || !this.regions!.intact(region)))
      return overflown(task, this.regions!, region, end);
    return this.#lent(task);
  }

  /** The same for the regions that it has on other stacks. */
  #lent(task: Call): FiberError | undefined {
    for (const { lent, region, stack } of task.frames)
      if (lent && !stack.regions!.intact(region!)) return overflown(task, stack.regions!, region!, Infinity);
    return undefined;
  }

  /** A trap has ended a fiber: nobody has put the pointers to rest, unless that was in the call that began it. */
  trapped(task: Call): void {
    if (shared) ends(task);
    if (!task.over) this.rest();
  }

  /** Puts the pointers where they are when no fiber runs. */
  rest(): void {
    if (shared) settle();
    else this.stack?.settle();
  }

  /** A call begins inside what runs. What is returned goes back to that. */
  below(): () => void {
    return shared ? below() : (this.stack?.below() ?? nothing);
  }
}

/** What an overflow costs those whose stacks it has reached, and its own fiber. */
function overflown(task: Call, regions: Regions, region: Region, end: number): FiberError {
  // How deep it went is only known if it is there still; else the guards that have been overwritten say that it was
  // more.
  const [low, tenants] = regions.mend(region, end);
  const { size } = regions;
  const depth = region.high - Math.min(low, end);
  const text =
    `fiber ${task.name} needs more shadow stack than the ${size} bytes it has, in export ${task.exportName}: ` +
    `at least ${depth}. ` +
    `Ask for more by the option shadowStack: { size: ${2 ** Math.ceil(Math.log2(2 * depth))} } of instantiate`;
  for (const lost of tenants)
    lost.lose(
      new FiberError("region-overflow", `fiber ${lost.name} lost its shadow stack: ${text}`, { fiber: lost.name }),
    );
  return new FiberError("region-overflow", text, { fiber: task.name });
}

/**
 * Whether this stack is one that the platform's own promising has made: no fiber runs, or one does and is inside a
 * marked import.
 */
const foreign = (): boolean => running()?.calling ?? true;

/** The fiber whose stack this is. */
function caller(name: string): Call {
  if (foreign()) throw cannotSuspend(name);
  return running()!;
}

/**
 * Throws if a fiber would wait for itself. What has been called for this wait alone never starts then: nobody would ask
 * how it ends.
 */
function circle(task: Call, on: Life, promise: Promise<unknown>, { fn, direct }: Suspending): void {
  try {
    refuseCircle(task, on);
  } catch (error) {
    if (fn !== direct) {
      then.call(promise, undefined, () => {});
      on.cancel(error);
    }
    throw error;
  }
}

/**
 * Refuses calls that a marked import has made of a guest whose calls run one after another: the import waits, most
 * likely for them, and they would wait for the call that it was called by.
 */
function refuseNested(task: Call, name: string): void {
  for (const nested of task.nested!) {
    const text =
      `fiber ${nested.name} was called by import ${name}, which waits, of fiber ${task.name}; ` +
      `calls of this guest run one after another, so they would wait for each other`;
    nested.cancel(new FiberError("deadlock", text, { fiber: nested.name }));
    nested.interrupt();
  }
}

/** Ends wait n of a fiber with what the Promise brings. Not inside the import: its arguments would be captured, too. */
function hear(promise: Promise<unknown>, task: Call, n: number): void {
  try {
    then.call(
      promise,
      (value) => complete(task, n, false, value),
      (reason) => complete(task, n, true, reason),
    );
  } catch (error) {
    // by what the Promise says is its constructor: the fiber waits already, so nothing may be thrown at it
    complete(task, n, true, error);
  }
}

/**
 * The user's function as it is called where the engine refuses to suspend: below a plain call of an export, or below
 * JavaScript, or in a start function. It may answer, but not wait.
 *
 * Why: RATIONALE.md, "Why do marked imports work in plain calls?".
 */
export function direct(name: string, mark: Suspending): (...args: any[]) => unknown {
  if (mark instanceof Jump) return mark.direct;
  const { fn } = mark;
  return (...args) => {
    if (fn === SLEEP) throw cannotSuspend(name);
    const result = mark.direct(...args);
    if (!isThenable(result)) return result;
    Promise.resolve(result).catch(() => {}); // nobody will ask; what is wrong is told below
    throw cannotSuspend(name);
  };
}

function cannotSuspend(name: string): FiberError {
  const why = current
    ? `it was reached through JavaScript: fiber ${current.name} called an import, which called an export as a ` +
      `plain function. The frames of JavaScript in between cannot be suspended; call the export from ` +
      `fiberfill's exports instead`
    : "no fiber has called it. A start function is none; an export is one if you call it from fiberfill's " +
      "exports, not as a plain function";
  return new FiberError("cannot-suspend", `import ${name} has to wait, and cannot here: ${why}.`, {
    ...(current && { fiber: current.name }),
  });
}
