// The scheduler of this page: one instance of the core, whose functions are all called through a guard. A trap in the
// core is a bug in fiberfill and the end of every fiber. From then on every call answers as if nothing were ready.

import { BUDGET } from "./budget.js";
import { IDLE, INDEX, newCore, type Core } from "./core.js";
import { FiberError, words } from "../errors.js";

let core: Core | undefined;
let ended: (error: FiberError) => void;

/** The default soft limit: how many fibers are started at once. */
export const SOFT = 1000;

/**
 * What the scheduler is made with. A change is also told to the core. The hard limit is not `inForce` until there is a
 * guest on the engine's stacks, of which it bears no more, or somebody has set the limits.
 */
export const settings = { soft: SOFT, hard: 4000, inForce: false, log: false };

/** Why no fiber can go on any more: set when the core has trapped. */
export let broken: FiberError | undefined;

/** Makes the scheduler, unless there is one already. `fatal` is called if the core traps. */
export function make(fatal: (error: FiberError) => void): void {
  if (core) return;
  ended = fatal;
  core = newCore();
  core.init(BUDGET, settings.soft, settings.inForce ? settings.hard : INDEX);
  if (settings.log) core.log_start();
}

/** Puts the limits in force, as they are set. */
export function limit(): void {
  settings.inForce = true;
  ask((core) => (core.limit(settings.soft, settings.hard), 0));
}

function fail(error: unknown): number {
  broken = new FiberError(
    "core-trap",
    `the scheduler has failed (${words(error)}), and no fiber can go on: a bug in fiberfill`,
    { cause: error },
  );
  ended(broken);
  return IDLE;
}

/** Calls a function of the core. Returns 0 if that fails, or if there is no core yet. */
export function ask(question: (core: Core) => number): number {
  try {
    return broken || !core ? 0 : question(core);
  } catch (error) {
    return fail(error);
  }
}

// The same, written out, for what is called for every fiber or wait: a call through a variable costs as much as the
// core's own work.

/** Whether the core wants a turn. */
export function wanted(): number {
  try {
    return broken || !core ? 0 : core.wanted();
  } catch (error) {
    return fail(error);
  }
}

/** Makes a fiber, ready to start. Returns its reference, or 0 if there are too many. */
export function spawned(): number {
  try {
    return broken ? 0 : core!.spawn();
  } catch (error) {
    return fail(error);
  }
}

/** Ends wait number n of a fiber. Returns 0 if that wait was already over. */
export function notified(fiber: number, n: number): number {
  try {
    return broken ? 0 : core!.notify(fiber, n);
  } catch (error) {
    return fail(error);
  }
}

/** The running fiber waits; returns the next command. */
export function waited(now: number): number {
  try {
    return broken ? 0 : core!.wait(now);
  } catch (error) {
    return fail(error);
  }
}

/** The running fiber goes to the end of the ready queue; returns the next command. */
export function yielded(now: number): number {
  try {
    return broken ? 0 : core!.yield(now);
  } catch (error) {
    return fail(error);
  }
}

/** The running fiber is over; returns the next command. */
export function finished(trapped: boolean, now: number): number {
  try {
    return broken ? 0 : core!.finish(trapped, now);
  } catch (error) {
    return fail(error);
  }
}
