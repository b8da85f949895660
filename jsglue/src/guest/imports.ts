// A guest's imports that may wait: the user's function behind a stub, what comes before each wait and after it, and the
// same function where nothing can wait.

import { FiberError } from "../errors.js";
import type { Binding } from "./binding.js";
import { nothing, running, type Call } from "./call.js";
import { shared, waits } from "./shadowstack.js";
import { Jump, SLEEP, YIELD, type Suspending } from "./suspending.js";
import { none } from "./transfer.js";
import { noNumber } from "./unmarked.js";
import { visitorWaits } from "./visitor.js";
import { counted } from "../substrate/javascriptcore.js";
import { deadly } from "../substrate/jspi.js";
import { cancelWait } from "../turn/cancel.js";
import { Cancellable, refuseCircle, type Life } from "../turn/life.js";
import { observed } from "../turn/observe.js";
import { current } from "../turn/turn.js";
import { complete, sleep, wait, yieldNow } from "../turn/wait.js";
import type { Stack } from "../substrate/substrate.js";
import type { Task } from "../turn/task.js";
import { describe, isObject, isThenable, then } from "../values.js";

// Why: RATIONALE.md, "Why does a cancelled guest that goes on waiting end in a trap?".
const PATIENCE = 1000; // waits that a cancelled fiber may begin: enough to clean up

type Deliver = (value: unknown, ...args: unknown[]) => unknown;
type Wait = (task: Call, what: string) => unknown;

/**
 * The user's function as the Suspending import behind a stub.
 *
 * @internal (TypeScript's own types do not know WebAssembly.Suspending, so the published ones must not)
 */
export function waiting(binding: Binding, name: string, mark: Suspending): unknown {
  if (mark instanceof Jump) return binding.substrate.waits(mark.fn);
  if (mark.fn === YIELD) {
    const yields = () => {
      const task = caller(name);
      return before(binding, task, name) ?? park(binding, task, name, yieldNow);
    };
    return binding.substrate.waits(yields, (task) => plain(binding, task) && !observed && name);
  }
  if (mark.fn === SLEEP) {
    return binding.substrate.waits((ms: number) => {
      const task = caller(name);
      return (
        before(binding, task, name) ?? park(binding, task, name, (task, name) => sleep(task, Math.max(0, ms), name))
      );
    });
  }
  const { deliver } = mark;
  const always = !SCRIPT_TAG && mark.always;
  const fn = counted(mark.fn);
  // The arguments are kept only if something needs them again: otherwise the engine makes no array of them.
  let passed: unknown[];
  const keeping = (...args: unknown[]) => {
    const result = fn(...args);
    passed = args;
    return result;
  };
  const call = deliver ? keeping : fn;
  return binding.substrate.waits((...args: unknown[]) => {
    if (always && foreign()) {
      goBelow(binding);
      return visitorWaits(fn(...args), binding);
    }
    const task = caller(name);
    const refused = before(binding, task, name);
    if (refused) return refused;
    let result: unknown;
    if (task.waiters) task.waiters = undefined;
    task.calling = true;
    try {
      result = call(...args);
      if (!always && !isThenable(result)) return SCRIPT_TAG ? result : checked(result, name);
    } catch (error) {
      binding.thrown = error;
      throw error;
    } finally {
      task.calling = false;
    }
    const on = Cancellable.lifeOf(result);
    if (on) circle(task, on, result as Promise<unknown>, mark);
    // It waits, most likely for the calls that it has made.
    if (!on || on.firm) for (const each of (task as Call).waiters ?? []) each.nest(task.turns);
    // Not result.then: a thenable of the user's must not call back before the fiber waits. [J-IMP-2]
    const promise = Promise.resolve(result);
    const parked = park(binding, task, name, wait);
    const n = task.waits;
    task.on = on;
    task.awaited = promise;
    if (deliver) delivered(task, deliver, passed);
    hear(promise, task, n);
    if (task.cancelled) cancelWait(task); // by fn
    return parked;
  });
}

/** What comes before every wait. A fiber that must not wait is ended here, or gets what it waits on instead. */
function before(binding: Binding, task: Call, name: string): unknown {
  // Small, so that the engine puts it into the path of every switch.
  return plain(binding, task) ? undefined : look(binding, task, name);
}

const plain = (binding: Binding, task: Call): boolean =>
  !(task.death || task.cancelled || shared || task.binding !== binding) && binding.sound(task);

function look(binding: Binding, task: Call, name: string): unknown {
  const overflow = task.binding.overflow(task, binding.end(task));
  task.abroad ||= task.binding !== binding;
  task.touched = task.abroad;
  if (overflow || task.death) {
    task.death ??= overflow;
    throw deadly();
  }
  if (task.binding.stack !== binding.stack || !task.region) goBelow(binding);
  // Why: RATIONALE.md, "Why is an import not called for a cancelled fiber?".
  if (!task.cancelled) return undefined;
  task.swallowed = (task.swallowed ?? 0) + 1;
  if (task.swallowed > PATIENCE) {
    const text =
      `fiber ${task.name} was cancelled and has begun ${PATIENCE} waits since, in export ` +
      `${task.exportName}; it has been ended by a trap`;
    task.death = new FiberError("cancel-ignored", text, { fiber: task.name, cause: task.reason });
    throw deadly();
  }
  // The fiber has swallowed its cancellation and waits again, so it is cancelled again. This goes through the
  // scheduler, so that a fiber that takes long to give up does not stop the page.
  const parked = park(binding, task, name, wait);
  complete(task, task.waits, true, task.reason);
  return parked;
}

function park(binding: Binding, task: Call, name: string, how: Wait): unknown {
  if (!SCRIPT_TAG && task.args !== nothing) {
    // A thousand calls may wait for long, and each may have been passed a text.
    task.args = nothing;
    task.encoded = none;
  }
  if (shared) waits(task, binding);
  return how(task, name);
}

/**
 * A marked import is called by code whose frames may not be in the fiber's own region: what the function calls in the
 * guest goes below those frames, as in raw JSPI.
 */
function goBelow(binding: Binding): void {
  if (binding.parked) binding.stackPointer!.value = binding.parked.value;
}

/**
 * Makes the wait that has begun end with the result of deliver, which is called with the value and with the fiber's
 * stack in its place.
 */
function delivered(task: Call, deliver: Deliver, args: unknown[]): void {
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
        // The stack would go on when that Promise settles, and not when it is the stack's turn.
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

/**
 * Whether the platform's own promising has made this stack: either no fiber runs, or the running fiber is inside a
 * marked import.
 */
const foreign = (): boolean => running()?.calling ?? true;

/** The fiber whose stack this is. */
function caller(name: string): Call {
  if (foreign()) throw cannotSuspend(name);
  return running()!;
}

/**
 * Throws if a fiber would wait for itself. A call that was made only for this wait then never starts, since nobody
 * would use its result.
 */
function circle(task: Call, on: Life, promise: Promise<unknown>, { fn, direct }: Suspending): void {
  try {
    refuseCircle(task, on);
  } catch (error) {
    then.call(promise, undefined, () => {}); // nobody else need handle it
    if (fn !== direct) on.cancel(error);
    throw error;
  }
}

/**
 * Ends wait n of a fiber with the Promise's outcome. This is not a closure inside the import, because that would
 * capture the arguments, too.
 */
function hear(promise: Promise<unknown>, task: Call, n: number): void {
  try {
    then.call(
      promise,
      (value) => (SCRIPT_TAG || watch(task, n, value), complete(task, n, false, value)),
      (reason) => complete(task, n, true, reason),
    );
  } catch (error) {
    // a getter `constructor` of the Promise has thrown: the fiber waits already, so the error must reach it through the
    // wait
    complete(task, n, true, error);
  }
}

/** Looks at what ends wait n of a fiber. Under JSPI's own names the engine alone decides what it is worth. */
function watch(task: Call, n: number, value: unknown): void {
  if (isObject(value) && n === task.waits && !task.thunk.jspi) task.deliver ??= giveObject;
}

/** A fiber goes on with an object. If the guest expects a number, a deliver function is most likely missing. */
function giveObject(this: Task, value: unknown, stack: Stack): void {
  const given = noNumber(value as object, noNumberFrom(this.waitsFor!, value));
  stack.goOn(value);
  queueMicrotask(given); // behind the one in which the guest gets it
}

/** The same for what an import has returned at once. JSPI lets the guest wait for it, for one microtask. */
function checked(result: unknown, name: string): unknown {
  if (isObject(result)) {
    const given = noNumber(result, noNumberFrom(name, result));
    queueMicrotask(() => queueMicrotask(given));
  }
  return result;
}

const noNumberFrom = (name: string, value: unknown) => (): string =>
  `import ${name} has given ${describe(value)}, for a number; let a second function, passed to fiberfill.suspending, ` +
  "write it to the guest's memory and return a number";

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
    if (!isThenable(result)) return SCRIPT_TAG || mark.always ? result : checked(result, name);
    Promise.resolve(result).catch(() => {}); // nobody will handle it; the error below says what is wrong
    throw cannotSuspend(name);
  };
}

function cannotSuspend(name: string): FiberError {
  const why = current
    ? `fiber ${current.name} called an import, which called an export as a plain function, and JavaScript in between ` +
      "cannot be suspended; call it from fiberfill's exports"
    : "no fiber has called it. A start function is no fiber; call an export from fiberfill's exports";
  return new FiberError("cannot-suspend", `import ${name} has to wait, and cannot here: ${why}.`, {
    ...(current && { fiber: current.name }),
  });
}
