// Stacks that the platform's own promising has made: code of no fiber, which runs between the fibers of a page.

import { soon } from "./budget.js";
import type { Task } from "./task.js";
import { become, current } from "./turn.js";
import { then } from "../values.js";

/**
 * Calls `fn` as code of no fiber, also below one that runs: a stack that the platform's own promising makes in it is
 * not that fiber's.
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
 * What such a stack waits on. It goes on in a microtask between two of ours: the core may have named a fiber by then.
 */
export function waitApart(value: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let named: Task | undefined;
    const between = (go: (value: any) => void) => (value: unknown) => {
      soon(() => {
        named = current;
        become(undefined);
      });
      go(value);
      soon(() => become(named));
    };
    then.call(Promise.resolve(value), between(resolve), between(reject));
  });
}
