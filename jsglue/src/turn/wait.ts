// How a fiber waits. It leaves its stack; what that returns goes to the engine. The core names the next fiber. What the
// fiber waits for comes back to it through the core, never directly.

import { cancelWait } from "./cancel.js";
import { read, recent } from "./clock.js";
import { enter, settled } from "./observe.js";
import { ask, notified, waited, yielded } from "./scheduler.js";
import type { Task } from "./task.js";
import { brought, run } from "./turn.js";

/** The current fiber waits until {@link complete} ends the wait. */
export function wait(task: Task, what: string): unknown {
  const now = recent(); // read before the fiber enters the state
  const left = leave(task, what);
  run(waited(now));
  return left;
}

/** The current fiber waits for `ms` milliseconds. */
export function sleep(task: Task, ms: number, what: string): unknown {
  const now = read();
  const left = leave(task, what);
  run(ask((core) => core.sleep(now + ms, now)));
  // An observer cancelled it before the wait had begun.
  if (task.cancelled && task.state === "waiting") cancelWait(task);
  return left;
}

/** The current fiber goes to the end of the ready queue. */
export function yieldNow(task: Task, what: string): unknown {
  const now = recent();
  const left = leave(task, what);
  run(yielded(now));
  return left;
}

function leave(task: Task, what: string): unknown {
  task.waits++;
  task.outcome = undefined;
  task.deliver = undefined;
  task.on = undefined;
  task.awaited = undefined;
  task.waitsFor = what;
  enter(task, "waiting");
  return task.runner.stack!.leave();
}

/**
 * Ends wait number n of a fiber, through the scheduler, never directly. What comes for a wait that is already over is
 * dropped. [J-MUX-4, J-MUX-7]
 */
export function complete(task: Task, n: number, failed: boolean, outcome: unknown): void {
  if (!notified(task.reference, n)) return;
  settled?.(task.fiber);
  brought(task, failed, outcome);
}
