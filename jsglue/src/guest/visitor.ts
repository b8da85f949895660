// Stacks that the platform's own promising has made, for functions that are no exports of a guest. Their code belongs
// to no fiber, but has frames on the guests' shadow stacks like any other.

import type { Binding } from "./binding.js";
import { begins, below, ends, settle, share, waits, type Frames, type Holder } from "./shadowstack.js";
import { onNewStack } from "../substrate/javascriptcore.js";
import { apart, waitApart } from "../turn/apart.js";
import { needRoom, PLENTY } from "../turn/room.js";
import { then } from "../values.js";

class Visitor implements Holder {
  frames: readonly Frames[] = [];
  away = false;
  readonly tenant = undefined;
}

/**
 * The stack whose code runs. Also undefined if code that does not know fiberfill has begun the stack, and it has not
 * waited yet.
 */
export let visiting: Visitor | undefined;

/** Makes such a stack: calls `fn`, which promising has returned. */
export function visit(fn: () => Promise<unknown>): Promise<unknown> {
  if (visiting) needRoom(PLENTY);
  share();
  const visitor = new Visitor();
  const outer = visiting;
  const back = below();
  const over = () => {
    ends(visitor);
    settle();
  };
  visiting = visitor;
  begins(visitor, true);
  try {
    const promise = apart(() => onNewStack(fn));
    then.call(promise, over, over);
    return promise;
  } catch (error) {
    over();
    throw error;
  } finally {
    visiting = outer;
    back();
  }
}

/** What such a stack waits on, in an import of a guest. */
export function visitorWaits(value: unknown, where: Binding): Promise<unknown> {
  share();
  const visitor = visiting ?? new Visitor();
  waits(visitor, where);
  return waitApart(value, (runs) => {
    visiting = runs ? visitor : undefined;
    if (!runs) settle();
  });
}
