// A fiber that waits for a Promise which nobody can settle any more waits for ever: its stack, its region and all that
// its frames refer to are lost, without a word from the engine. The collector knows. What a fiber has waited for longer
// than a while is handed to a FinalizationRegistry and otherwise forgotten here; when the collector takes it, the fiber
// is reported by its name. (Not at once for every wait: registering costs as much as a fetch adds.)
// Why: RATIONALE.md, "Why is a leak told by the garbage collector?".

import { read } from "./clock.js";
import type { Task } from "./task.js";
import { reportLeak } from "./report.js";

const WHILE = 10_000; // ms between two looks; a wait is handed over at the second one at the latest

interface Wait {
  task: WeakRef<Task>;
  number: number;
}

let lost: FinalizationRegistry<Wait> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Looks, from time to time, for waits that have become hopeless among those of the fibers that are alive. */
export function watch(live: () => Task[]): void {
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    const tasks = live();
    for (const task of tasks) hand(task);
    if (tasks.length > 0) watch(live);
  }, WHILE);
  (timer as { unref?(): void }).unref?.(); // a process does not live on for this
}

function hand(task: Task): void {
  const { awaited } = task;
  if (!awaited || task.state !== "waiting" || read() - task.since < WHILE) return;
  task.awaited = undefined;
  lost ??= new FinalizationRegistry(({ task, number }) => {
    const leaked = task.deref();
    if (leaked?.state === "waiting" && leaked.waits === number) reportLeak(leaked.fiber);
  });
  lost.register(awaited, { task: new WeakRef(task), number: task.waits });
}
