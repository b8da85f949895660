// Observers of fibers: each is told of every state that a fiber enters.

import { inJavaScript } from "../substrate/javascriptcore.js";
import { exact, last } from "../turn/clock.js";
import type { Fiber } from "../api/fiber.js";
import type { FiberState, Task } from "./task.js";
import { wrong } from "../values.js";

const observers = new Set<(fiber: Fiber) => void>();
/** Whether there are any. */
export let observed = false;

/**
 * Calls `observer` whenever a fiber has entered a new state. Returns a function that stops this. The observer may be
 * called thousands of times a second. What it throws becomes an unhandled rejection and harms no fiber.
 */
export function observe(observer: (fiber: Fiber) => void): () => void {
  if (typeof observer !== "function") throw wrong("observe takes a function", observer);
  observer = observer.bind(null); // the same function may observe twice
  observers.add(observer);
  observed = true;
  return () => {
    observers.delete(observer);
    observed = observers.size > 0;
  };
}

/** Called when what a fiber waits for has settled, before the fiber goes on. */
export let settled: ((fiber: Fiber) => void) | undefined;

/** Sets {@link settled}. */
export function whenSettled(listener: typeof settled): void {
  settled = listener;
}

/** A fiber enters a state. */
export function enter(task: Task, state: FiberState): void {
  task.state = state;
  if (!observed) task.since = last();
  else {
    task.since = exact();
    tell(task.fiber);
  }
}

function tell(fiber: Fiber): void {
  for (const observer of observers) {
    try {
      inJavaScript(() => observer(fiber));
    } catch (error) {
      void Promise.reject(error);
    }
  }
}
