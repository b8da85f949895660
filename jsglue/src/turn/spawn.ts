// How a fiber comes into being: queued, as calls of fiberfill's exports are; or begun inside the call that makes it, as
// WebAssembly.promising has it.

import { callBegins } from "./budget.js";
import { read, recent } from "./clock.js";
import { enter } from "./observe.js";
import { ask, finished, spawned } from "./scheduler.js";
import type { Task } from "./task.js";
import { admit, become, current, defer, schedule, undefer } from "./turn.js";

let count = 0; // of all fibers ever made

/** A number that no other fiber of this page has. */
export function nextId(): number {
  return ++count;
}

/** Queues a new fiber. It starts in a later microtask at the earliest. */
export function spawn(task: Task, signal: AbortSignal | undefined): void {
  task.since = recent();
  if (task.defers()) defer(task);
  else if (!admit(task, spawned())) return;
  enter(task, "queued");
  if (task.state === "queued") task.obey(signal); // an observer may have cancelled it
  schedule();
}

/** Goes on with a fiber that has been deferred. */
export function proceed(task: Task): void {
  if (undefer(task) && admit(task, spawned())) schedule();
}

/**
 * Starts a new fiber inside this call, on a stack of its own, and returns when it waits or has ended for the first
 * time: as WebAssembly.promising does. It is queued like others only when as many are started as the hard limit allows.
 */
export function begin(task: Task): void {
  task.since = read();
  if (!current) callBegins(task.since);
  const reference = ask((core) => core.begin());
  if (!admit(task, reference)) return;
  if (ask((core) => core.running()) !== reference) {
    enter(task, "queued");
    return schedule();
  }
  const caller = current;
  become(task);
  enter(task, "running");
  task.beginHere(caller);
  if (current === task) {
    task.over = true;
    finished(false, recent());
  }
  become(caller);
  schedule();
}
