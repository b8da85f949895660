// How a fiber begins: queued, as calls of fiberfill's exports are; or inside the call that makes it, as in
// WebAssembly.promising.

import { callBegins } from "./budget.js";
import { read, recent } from "./clock.js";
import { enter } from "./observe.js";
import { needLittle, needRoom, PLENTY } from "./room.js";
import { ask, finished, spawned } from "./scheduler.js";
import type { Task } from "./task.js";
import { admit, become, current, defer, schedule, undefer } from "./turn.js";

let count = 0; // fibers ever made

/** Returns a number that no other fiber of this page has. */
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

/** Queues a fiber that was deferred. */
export function proceed(task: Task): void {
  if (undefer(task) && admit(task, spawned())) schedule();
}

/**
 * Starts a new fiber inside this call, on a stack of its own, as WebAssembly.promising does. `beginHere` does that,
 * below the code of `caller`, and returns when the fiber waits for the first time or has ended; so does this function.
 * The fiber is queued instead if as many are started as the hard limit allows. Throws if the engine's stack has no room
 * for it.
 */
export function begin(task: Task, beginHere: (caller: Task | undefined) => void): void {
  if (current) needRoom(PLENTY);
  else needLittle();
  task.since = read();
  if (task.defers()) {
    defer(task);
    return enter(task, "queued");
  }
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
  beginHere(caller);
  if (current === task) {
    task.over = true;
    finished(false, recent());
  }
  become(caller);
  schedule();
}
