// How a fiber is ended from outside. Cancelling makes its import throw, so that its own cleanup runs; killing ends its
// stack by a trap. Both reach a fiber where it waits, and a running one at its next wait (guest/imports.ts).

import type { Task } from "./task.js";
import { drop, interrupted, settle, undefer } from "./turn.js";

/** Begins to cancel a fiber that is held. If it has not started, it never does. */
export function cancel(task: Task): void {
  if (task.state === "queued") {
    if (undefer(task) || drop(task)) settle(task, true, task.reason);
  } else if (task.state === "waiting") {
    cancelWait(task);
  }
}

/**
 * Cancels a fiber's wait. The arena that the fiber waits for, if any, is cancelled with it. The wait itself ends once
 * the fiber is no longer held.
 */
export function cancelWait(task: Task): void {
  const arena = task.on?.firm ? task.on : undefined;
  arena?.cancel(task.reason);
  if (task.held) return;
  if (arena) arena.interrupt();
  else interrupted(task, task.reason);
}

/** It is a cancelled fiber's turn to end. */
export function interrupt(task: Task): void {
  if (!task.held) return;
  task.held = false;
  if (task.state === "waiting") cancelWait(task);
}

/** Ends a fiber by a trap: at once if it waits, at its next wait if it runs. None of its code runs after that. */
export function kill(task: Task, death: unknown): void {
  task.death = death;
  task.held = false;
  if (task.state !== "waiting") return;
  if (!task.on?.firm) return interrupted(task, death);
  task.on.cancel(death);
  task.on.interrupt();
}
