// How a fiber is ended from outside. Cancelling has its import throw, so that its own cleanup runs; killing ends its
// stack by a trap. Both reach a fiber where it waits; one that runs hears of it at its next wait (guest/binding.ts).

import type { Task } from "./task.js";
import { drop, interrupted, settle, undefer } from "./turn.js";

/** A fiber has been cancelled, and is held. One that has not started never does. */
export function cancel(task: Task): void {
  if (task.state === "queued") {
    if (undefer(task) || drop(task)) settle(task, true, task.reason);
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
  else interrupted(task, task.reason);
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
  if (!task.on?.firm) return interrupted(task, death);
  task.on.cancel(death);
  task.on.interrupt();
}
