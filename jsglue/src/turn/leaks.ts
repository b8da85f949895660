// A fiber that waits for a Promise that nobody can settle any more waits for ever. Its stack, its region and all that
// its frames refer to are lost, and the engine says nothing. The garbage collector knows. So a Promise that has been
// awaited for a while is handed to a FinalizationRegistry and otherwise forgotten here. When it is collected, the fiber
// is reported by name. Not every wait is registered at once: registering costs as much as fiberfill adds to a fetch.
// Why: RATIONALE.md, "Why is a leak told by the garbage collector?".
//
// The same scan finds calls that were made while the call before them waited, and that have not got their turn since,
// where calls of a guest run one after another. Perhaps the import that the first one waits in has made the second one,
// and waits for it. That cannot be known: an import that has awaited something is code of no fiber.

import { read } from "./clock.js";
import type { Task } from "./task.js";
import { tell } from "./tell.js";

const WHILE = 10_000; // ms between two scans; a wait is registered by the second scan at the latest

interface Wait {
  task: WeakRef<Task>;
  number: number;
}

let lost: FinalizationRegistry<Wait> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Scans the live fibers from time to time, and registers what they have awaited for long. */
export function watch(live: () => Task[]): void {
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    const tasks = live();
    for (const task of tasks) hand(task);
    if (tasks.length > 0) watch(live);
  }, WHILE);
  if (!SCRIPT_TAG) (timer as { unref?(): void }).unref?.(); // a process does not stay alive for this timer
}

const told = new WeakSet<Task>(); // calls that others wait behind

function hand(task: Task): void {
  if (task.state === "queued") return queued(task);
  const { awaited } = task;
  if (!awaited || !lasts(task)) return;
  task.awaited = undefined;
  lost ??= new FinalizationRegistry(({ task, number }) => {
    const leaked = task.deref();
    if (leaked?.state === "waiting" && leaked.waits === number) tell("leaked", leaked.fiber);
  });
  lost.register(awaited, { task: new WeakRef(task), number: task.waits });
}

/** Whether a fiber has waited for long. */
const lasts = ({ state, since }: Task): boolean => state === "waiting" && read() - since >= WHILE;

function queued(task: Task): void {
  const first = task.before;
  if (!first || !lasts(first) || task.since < first.since || told.has(first)) return;
  told.add(first);
  tell("behind", first.fiber, task.fiber);
}
