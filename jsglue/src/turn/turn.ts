// The driver of the scheduler: it carries out the core's commands and schedules turns. One fiber is active at a time:
// it is `current` from the moment the core names it until it waits or ends.
//
// A fiber that the core has named goes on in a later microtask at the earliest, on a flat stack. The page has control
// between turns, and only then.

import { pause, rested, soon, turnBegins, turnEnds } from "./budget.js";
import { idle, read, recent } from "./clock.js";
import { INDEX, IDLE, TURN_OVER } from "./core.js";
import { FiberError } from "../errors.js";
import type { Fiber } from "../api/fiber.js";
import { watch } from "./leaks.js";
import { enter } from "./observe.js";
import { tell } from "./tell.js";
import { ask, broken, finished, limit, make, notified, settings, waited, wanted } from "./scheduler.js";
import { settleInOrder } from "./settle.js";
import type { Kind, Stack } from "../substrate/substrate.js";
import type { Task } from "./task.js";

const tasks: (Task | undefined)[] = []; // by the index of the reference
const deferred = new Set<Task>(); // not yet known to the core: other fibers of their guest go first

/**
 * The fiber that the core has named and that has not waited or ended since.
 *
 * Why: RATIONALE.md, "Why does JavaScript remember which fiber runs?".
 */
export let current: Task | undefined;

/** Sets whose code runs from now on; undefined: code of no fiber. */
export function become(task: Task | undefined): void {
  current = task;
}

/**
 * Returns the fiber whose import is being called; undefined outside of an import. Call it before the import's first
 * await.
 */
export function currentFiber(): Fiber | undefined {
  return current?.fiber;
}

export function liveFibers(): Fiber[] {
  return liveTasks().map((task) => task.fiber);
}

function liveTasks(): Task[] {
  return [...tasks.filter((task) => task !== undefined), ...deferred];
}

/** Makes the scheduler, unless there is one already. After that, fibers can be made, on stacks of this kind. */
export function ready(stacks: Kind): void {
  make((error) => {
    current = undefined;
    for (const task of tasks) if (task) settle(task, true, error);
  });
  if (stacks === "jspi" && !settings.inForce) limit();
}

// --- turns

let timer: ReturnType<typeof setTimeout> | undefined;
let timerAt = Infinity;

/** Runs a turn, or puts it off if the time is used up. The time counts as `at` at least, whatever the clock says. */
function turn(at = 0): void {
  if (current) return; // the running fiber's next step names the next fiber
  const now = read();
  if (turnBegins(now)) run(ask((core) => core.turn(Math.max(at, now))));
  else pause(turn);
}

/** Schedules a turn if the core wants one. */
export function schedule(): void {
  if (wanted()) soon(turn);
}

/** Obeys a command of the core. */
export function run(command: number): void {
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
      // What it waited for has come too late. It goes on waiting, until interrupt ends the wait, and no longer for the
      // arena, which has ended.
      task.waits++;
      task.on = undefined;
      return run(waited(recent()));
    }
    current = task;
    enter(task, "running");
    const { stack } = task.runner;
    if (stack === undefined) task.begin();
    else if (task.death) stack.end();
    else if (task.deliver) task.deliver(task.outcome, stack);
    else stack.goOn(task.outcome);
  }
}

/** Sets the event loop's timer to the earliest deadline. */
function arm(): void {
  if (ask((core) => core.stalled()))
    tell(
      "stalled",
      liveFibers().map(({ name, state, waitsFor }) => ({ name, state, waitsFor })),
      settings.hard,
    );
  const at = ask((core) => core.deadline());
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
      // An engine's timer may fire up to a millisecond early; then it is set again. If it fires earlier, or the clock
      // stands still, it is a test's.
      const now = read();
      turn(now > armed && at - now < 1 ? now : at);
    },
    Math.ceil(Math.max(0, at - armed)),
  );
}

// --- fibers that are alive

/** Gives a task its reference. If there is none left, the task fails, and this returns false. */
export function admit(task: Task, reference: number): boolean {
  if (reference === 0) {
    const full = `no more than ${INDEX - 1} fibers can be alive`;
    settle(task, true, broken ?? new FiberError("no-memory", full, { fiber: task.name }));
    return false;
  }
  task.reference = reference;
  tasks[reference & INDEX] = task;
  return true;
}

/** Puts a task off until it is its turn to be admitted. */
export function defer(task: Task): void {
  deferred.add(task);
}

/** Removes a task from those put off. Returns false if it was not one of them. */
export function undefer(task: Task): boolean {
  return deferred.delete(task);
}

/** Makes the core forget a fiber that has not started. Returns 0 if it has started. */
export function drop(task: Task): number {
  return ask((core) => core.drop(task.reference));
}

/** Makes a fiber's current wait throw, even if its I/O is already in the inbox. */
export function interrupted(task: Task, error: unknown): void {
  notified(task.reference, task.waits);
  task.on = undefined; // a fiber that waits for this one from now on closes no cycle
  brought(task, true, error);
}

const fails = (error: unknown, stack: Stack): void => stack.fail(error);

/** Keeps what the current wait of a fiber ends with, until it is its turn. */
export function brought(task: Task, failed: boolean, outcome: unknown): void {
  task.outcome = outcome;
  if (failed) task.deliver = fails;
  schedule();
}

/** Settles a fiber that has ended, and obeys the core's next command. */
export function left(task: Task, threw: boolean, result: unknown, trapped: boolean): void {
  if (!SCRIPT_TAG && task.over) return settle(task, threw, result);
  const now = recent();
  settle(task, threw, result);
  run(finished(trapped, now));
}

/** Records how a fiber has ended, and settles its Promise. */
export function settle(task: Task, threw: boolean, result: unknown): void {
  if (tasks[task.reference & INDEX] === task) tasks[task.reference & INDEX] = undefined;
  task.release();
  task.unlisten?.();
  task.waitsFor = undefined;
  task.on = undefined;
  task.awaited = undefined;
  const cancelled = threw && task.cancelledBy(result);
  enter(task, !threw ? "done" : cancelled ? "cancelled" : "failed");
  settleInOrder(task, threw, result, threw && !cancelled ? `${task.exportName} (fiber ${task.name})` : undefined);
}
