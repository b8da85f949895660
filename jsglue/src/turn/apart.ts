// Stacks made by the platform's own promising: code of no fiber, which runs between the fibers of a page.

import { soon } from "./budget.js";
import type { Task } from "./task.js";
import { become, current } from "./turn.js";
import { then } from "../values.js";

/**
 * Calls `fn` as code of no fiber, even while a fiber runs: a stack that the platform's promising makes in `fn` does not
 * belong to that fiber.
 */
export function apart<T>(fn: () => T): T {
  const caller = current;
  become(undefined);
  try {
    return fn();
  } finally {
    become(caller);
  }
}

/**
 * Returns what such a stack waits on. The stack goes on in a microtask between two of ours, when the core may already
 * have named a fiber. Calls `runs` before the stack goes on, and after.
 */
export function waitApart(value: unknown, runs: (now: boolean) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let named: Task | undefined;
    const between = (go: (value: any) => void) => (value: unknown) => {
      soon(() => {
        named = current;
        become(undefined);
        runs(true);
      });
      go(value);
      soon(() => {
        become(named);
        runs(false);
      });
    };
    then.call(Promise.resolve(value), between(resolve), between(reject));
  });
}
