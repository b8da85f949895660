// The driver of the scheduler: it does what the core commands, and schedules turns. One fiber is active at a time; it
// is `current` from the moment the core names it until it waits or ends.
//
// A stack is resumed by resolving the promise that it waits on, so the fiber itself runs in a later microtask, on a
// flat stack. Between turns, and only then, the page has control.

import { BUDGET, callBegins, pause, rested, soon, turnBegins, turnEnds } from "./budget.js";
import { IDLE, INDEX, TURN_OVER, newCore, type Core } from "./core.js";
import { idle, read, recent } from "./clock.js";
import { FiberError, words } from "../errors.js";
import type { Fiber, Task } from "../api/fiber.js";
import { onNewStack } from "../substrate/javascriptcore.js";
import { watch } from "./leaks.js";
import { enter } from "../api/observe.js";
import { reportStall } from "./report.js";
import { then } from "../api/suspending.js";
import { none } from "../guest/transfer.js";
import { describe, shown } from "../values.js";
import { deadly, give, ownStack } from "../substrate/jspi.js";

let core: Core;

/** Makes the scheduler, if there is none yet. Fibers can be made then. */
export function ready(): void {
  if (core) return;
  core = newCore();
  core.init(BUDGET, soft, hard);
  if (logging) core.log_start();
}

/** How many fibers are started at once by default. */
export const SOFT = 1000;

let soft = SOFT;
let hard = 4000;

/**
 * Sets how many fibers of this page are started at once (soft, 1,000 by default), and up to how many when nothing would
 * move otherwise (hard, 4,000). The others wait unstarted, in order. May be called at any time; fibers that are started
 * stay so. Chromium ends a tab that has some 20,000 stacks, Node a process with some 32,000: there is nothing to catch.
 */
export function limits(chosen: { soft?: number | undefined; hard?: number | undefined }): void {
  if (typeof chosen !== "object" || chosen === null)
    throw new FiberError("bad-argument", `limits takes { soft, hard }, got ${describe(chosen)}`);
  const whole = (n: unknown) => Number.isInteger(n) && (n as number) >= 1 && (n as number) < INDEX;
  const { soft: few = soft, hard: most = whole(few) ? Math.max(hard, few) : hard } = chosen;
  if (!whole(few) || !whole(most) || most < few) {
    throw new FiberError(
      "bad-argument",
      `limits takes { soft, hard }, whole numbers of fibers with 1 <= soft <= hard, got soft ${shown(few)} and hard ${shown(most)}`,
    );
  }
  [soft, hard] = [few, most];
  if (!core) return;
  ask(core.limit, soft, hard);
  schedule();
}

/** How many stacks there may be. */
export const stackLimit = (): number => hard;

const tasks: (Task | undefined)[] = []; // by the index of the reference
const deferred = new Set<Task>(); // those that the core does not know yet: others of their guest go first
let count = 0; // of all fibers ever made
let broken: FiberError | undefined; // the core has trapped

/** The fiber that the core has named and that has not waited or ended since. */
export let current: Task | undefined;

/** The fiber whose import is being called; undefined outside of an import. */
export function currentFiber(): Fiber | undefined {
  return current?.fiber;
}

/** All fibers that have not ended, in no particular order. */
export function liveFibers(): Fiber[] {
  return [...liveTasks(), ...deferred].map((task) => task.fiber);
}

function liveTasks(): Task[] {
  return tasks.filter((task) => task !== undefined);
}

export function nextId(): number {
  return ++count;
}

// --- turns

let timer: ReturnType<typeof setTimeout> | undefined;
let timerAt = Infinity;

/** It is `at` at least, whatever the clock says. */
function turn(at = 0): void {
  if (current) return; // the running fiber's next step names whoever is ready
  const now = read();
  if (turnBegins(now)) run(ask(core.turn, Math.max(at, now)));
  else pause(turn);
}

/** Schedules a turn if the core wants one. */
function schedule(): void {
  if (wanted()) soon(turn);
}

/** Obeys a command of the core. */
function run(command: number): void {
  if (broken) return;
  if (command === IDLE) {
    current = undefined;
    turnEnds(read());
    arm();
    idle();
    watch(liveTasks);
  } else if (command === TURN_OVER) {
    current = undefined;
    idle();
    pause(turn);
  } else {
    const task = tasks[command & INDEX]!;
    if (task.held) {
      // What has come for it came too late; it goes on waiting, in a wait that only interrupt ends, and no longer the
      // arena, which is over.
      task.waits++;
      task.on = undefined;
      return run(waited(recent()));
    }
    current = task;
    enter(task, "running");
    if (task.worker === undefined) {
      give(task);
    } else if (task.death) {
      task.wake(failure(deadly()));
    } else if (task.failed) {
      task.wake(failure(task.outcome));
    } else {
      task.wake(task.outcome);
    }
  }
}

/** Has the event loop call when the earliest timer is due. */
function arm(): void {
  if (ask(core.stalled)) reportStall(liveFibers(), hard);
  const at = ask(core.deadline);
  if (at === timerAt) return;
  if (timerAt < Infinity) clearTimeout(timer);
  timerAt = Infinity;
  if (at < 0) return;
  timerAt = at;
  const armed = read();
  timer = setTimeout(
    () => {
      timerAt = Infinity;
      rested();
      // An engine's timer may be up to a millisecond early; it is set again then. One that is earlier, or whose clock
      // stands still, is a test's.
      const now = read();
      turn(now > armed && at - now < 1 ? now : at);
    },
    Math.ceil(Math.max(0, at - armed)),
  );
}

/** Calls a function of the core; 0 if that fails. A trap in the core is the end of every fiber. */
function ask(fn: (a: any, b: any) => number, a?: unknown, b?: unknown): number {
  try {
    return broken ? 0 : fn(a, b);
  } catch (error) {
    return fail(error);
  }
}

// The same for those that are called for every fiber or wait: a call through a variable costs as much as what the core
// does in it.
const wanted = (): number => {
  try {
    return broken ? 0 : core.wanted();
  } catch (error) {
    return fail(error);
  }
};
const spawned = (): number => {
  try {
    return broken ? 0 : core.spawn();
  } catch (error) {
    return fail(error);
  }
};
const notified = (f: number, n: number): number => {
  try {
    return broken ? 0 : core.notify(f, n);
  } catch (error) {
    return fail(error);
  }
};
const waited = (now: number): number => {
  try {
    return broken ? 0 : core.wait(now);
  } catch (error) {
    return fail(error);
  }
};
const yielded = (now: number): number => {
  try {
    return broken ? 0 : core.yield(now);
  } catch (error) {
    return fail(error);
  }
};
const finished = (trap: boolean, now: number): number => {
  try {
    return broken ? 0 : core.finish(trap, now);
  } catch (error) {
    return fail(error);
  }
};

/** The core has trapped. */
function fail(error: unknown): number {
  broken = new FiberError(
    "core-trap",
    `the scheduler itself has failed (${words(error)}); no fiber of this page can go on. This is a bug in fiberfill.`,
    { cause: error },
  );
  current = undefined;
  for (const task of tasks) if (task) settle(task, true, broken);
  return IDLE;
}

// --- the life of a fiber

/** Queues a new fiber. It starts in a later microtask at the earliest. */
export function spawn(task: Task, signal: AbortSignal | undefined): void {
  task.since = recent();
  if (task.binding.machine?.defers(task)) deferred.add(task);
  else if (!admit(task, spawned())) return;
  enter(task, "queued");
  if (task.state === "queued") task.obey(signal); // an observer may have cancelled it
  schedule();
}

/** Goes on with a fiber that has been deferred. */
export function proceed(task: Task): void {
  if (deferred.delete(task) && admit(task, spawned())) schedule();
}

/** Gives a task its reference; if there is none it is over. */
function admit(task: Task, reference: number): boolean {
  if (reference === 0) {
    settle(
      task,
      true,
      broken ?? new FiberError("no-memory", `no more than ${INDEX - 1} fibers can be alive`, { fiber: task.name }),
    );
    return false;
  }
  task.reference = reference;
  tasks[reference & INDEX] = task;
  return true;
}

/**
 * Starts a new fiber inside this call, on a stack of its own, and returns when it waits or has ended for the first
 * time: as WebAssembly.promising does. It is queued like others only when as many are started as the hard limit allows.
 */
export function begin(task: Task): void {
  task.since = read();
  if (!current) callBegins(task.since);
  const reference = ask(core.begin);
  if (!admit(task, reference)) return;
  if (ask(core.running) !== reference) {
    enter(task, "queued");
    return schedule();
  }
  const { stackPointer, low } = task.binding;
  const pointer = stackPointer?.value;
  const region = low?.value;
  const caller = current;
  current = task;
  task.alone = !caller || !!task.binding.stack?.off(caller);
  enter(task, "running");
  ownStack(task);
  if (current === task) {
    task.over = true;
    finished(false, recent());
  }
  current = caller;
  if (stackPointer) stackPointer.value = pointer; // its caller's
  if (task.binding.stack && task.alone) task.binding.rest(); // lower, if the call waits with its frames in their place
  if (low) low.value = region;
  schedule();
}

/**
 * Calls `fn` as code of no fiber, also below one that runs: a stack that the platform's own promising makes in it is
 * not that fiber's.
 */
export function apart<T>(fn: () => T): T {
  const caller = current;
  current = undefined;
  try {
    return onNewStack(fn);
  } finally {
    current = caller;
  }
}

/**
 * What a stack waits on that the platform's own promising has made. It goes on in a microtask between two of ours, as
 * code of no fiber: the core may have named one by then.
 */
export function waitApart(value: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let named: Task | undefined;
    const between = (go: (value: any) => void) => (value: unknown) => {
      soon(() => {
        named = current;
        current = undefined;
      });
      go(value);
      soon(() => {
        current = named;
      });
    };
    then.call(Promise.resolve(value), between(resolve), between(reject));
  });
}

/** The fiber whose stack is its own has ended. */
export function left(task: Task, threw: boolean, result: unknown, trapped: boolean): void {
  if (task.over) settle(task, threw, result);
  else finish(task, threw, result, trapped);
}

/** The current fiber waits until its wait is ended by {@link complete}; what its stack waits on. */
export function wait(task: Task, what: string): Promise<unknown> {
  const now = recent(); // before it enters the state
  const parked = park(task, what);
  run(waited(now));
  return parked;
}

/** The current fiber waits for `ms` milliseconds. */
export function sleep(task: Task, ms: number, what: string): Promise<unknown> {
  const now = read();
  const parked = park(task, what);
  run(ask(core.sleep, now + ms, now));
  if (task.cancelled && task.state === "waiting") cancelWait(task); // by an observer, when the wait had not begun
  return parked;
}

/** The current fiber goes to the end of the ready queue. */
export function yieldNow(task: Task, what: string): Promise<unknown> {
  const now = recent();
  const parked = park(task, what);
  run(yielded(now));
  return parked;
}

/** Begins a wait of the current fiber: what its stack waits on. */
function park(task: Task, what: string): Promise<unknown> {
  task.waits++;
  task.failed = false;
  task.outcome = undefined;
  task.on = undefined;
  task.awaited = undefined;
  task.waitsFor = what;
  enter(task, "waiting");
  parking = task;
  return new Promise<unknown>(keep);
}

// One function for all waits: one made for each is thrown away by the collector, and optimised code with it. It does
// not take the function that rejects, which the engine then need not make.
let parking: Task;
function keep(resolve: (value: unknown) => void): void {
  parking.wake = resolve;
}

/** What a wait ends with that is to throw: its Promise asks this for how it ends, and is told. */
export function failure(reason: unknown): PromiseLike<never> {
  return { then: (_, reject) => reject!(reason) as never };
}

/**
 * Ends wait number n of a fiber, through the scheduler, never directly. What comes for a wait that is over belongs to
 * nobody and is dropped. [J-MUX-4, J-MUX-7]
 */
export function complete(task: Task, n: number, failed: boolean, outcome: unknown): void {
  if (!notified(task.reference, n)) return;
  task.failed = failed;
  task.outcome = outcome;
  schedule();
}

/** The current fiber has ended; obeys what the core commands next. */
function finish(task: Task, threw: boolean, result: unknown, trapped: boolean): void {
  const now = recent();
  settle(task, threw, result);
  run(finished(trapped, now));
}

const nothing: readonly unknown[] = []; // the arguments of a fiber that has ended

function settle(task: Task, threw: boolean, result: unknown): void {
  if (tasks[task.reference & INDEX] === task) tasks[task.reference & INDEX] = undefined;
  task.binding.release(task);
  task.unlisten?.();
  task.waitsFor = undefined;
  task.worker = undefined;
  task.on = undefined;
  task.awaited = undefined;
  task.args = nothing;
  task.encoded = none;
  if (threw) {
    enter(task, task.cancelledBy(result) ? "cancelled" : "failed");
    task.reject(result);
  } else {
    enter(task, "done");
    task.resolve(result);
  }
}

/** A fiber has been cancelled, and is held. One that has not started never does. */
export function cancel(task: Task): void {
  if (task.state === "queued") {
    if (deferred.delete(task) || ask(core.drop, task.reference)) settle(task, true, task.reason);
  } else if (task.state === "waiting") {
    cancelWait(task);
  }
}

/**
 * A cancelled fiber waits. An arena that it waits for is cancelled with it; if its own turn to end has come its wait
 * ends.
 */
export function cancelWait(task: Task): void {
  const arena = task.on?.firm ? task.on : undefined;
  arena?.cancel(task.reason);
  if (task.held) return;
  if (arena) arena.interrupt();
  else end(task, task.reason);
}

/** The turn of a cancelled fiber to end has come. */
export function interrupt(task: Task): void {
  if (!task.held) return;
  task.held = false;
  if (task.state === "waiting") cancelWait(task);
}

/** Ends a fiber by a trap: none of its code runs any more, or from its next wait on if it runs. */
export function kill(task: Task, death: unknown): void {
  task.death = death;
  task.held = false;
  if (task.state !== "waiting") return;
  if (!task.on?.firm) return end(task, death);
  task.on.cancel(death);
  task.on.interrupt();
}

/** Has the current wait of a fiber throw, also when its I/O is in the inbox already. */
function end(task: Task, error: unknown): void {
  notified(task.reference, task.waits);
  task.on = undefined; // who waits for this one from now on closes no circle
  task.failed = true;
  task.outcome = error;
  schedule();
}

let logging = false; // asked for before the core was there

/** Starts recording what the scheduler does; see {@link log}. */
export function startLog(): void {
  logging = true;
  core?.log_start();
}

/** What the scheduler has done since startLog: the kind of event (asyncio/log.go) and the fiber's index. */
export function log(): [event: number, index: number][] {
  return Array.from({ length: core?.log_len() ?? 0 }, (_, i) => [core.log_event(i), core.log_fiber(i) & INDEX]);
}
