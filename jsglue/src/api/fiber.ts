// What a call of an export returns.

import { Cancellable } from "../turn/life.js";
import type { FiberState } from "../turn/task.js";
import { Call, type Thunk } from "../guest/call.js";
import type { Binding } from "../guest/binding.js";
import { nextId } from "../turn/spawn.js";

/** Makes a call and its face; nothing has begun yet. */
export function newCall(thunk: Thunk, binding: Binding, args: readonly unknown[], name?: string): Call {
  const call = new Call(nextId(), name, thunk, binding, args);
  call.fiber = new Fiber(call);
  return call;
}

/**
 * One call of an export: a Promise for its result that can be looked at and cancelled. It settles exactly once, when
 * the export has ended: with what it returned (undefined for no result, an array for several), or with what it threw,
 * unchanged. A trap rejects it with a {@link FiberError}. [J-EXP-1, J-EXP-2]
 *
 * Cancelled, one that has not started never starts. One that waits sees its import throw the reason, so that its own
 * cleanup runs; every later wait of it throws again, and after 1,000 of them it is ended by a trap (code
 * "cancel-ignored"). One that runs sees it at its next wait. The Promise rejects with the reason, unless the guest
 * catches it and returns. A fiber that waits for an {@link Arena} goes on when the arena, which is cancelled with it,
 * is over.
 */
export class Fiber<T = unknown> extends Cancellable<T> {
  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    super(call);
    this.#call = call;
  }

  /** A number that no other fiber of this page has; they count up from 1. */
  get id(): number {
    return this.#call.id;
  }

  /** The name given by `with`, or the export's name and the id. */
  get name(): string {
    return this.#call.name;
  }

  /** The name of the export. */
  get export(): string {
    return this.#call.exportName;
  }

  get state(): FiberState {
    return this.#call.state;
  }

  /** While waiting: for which import, such as "env.fetch_text". */
  get waitsFor(): string | undefined {
    return this.#call.state === "waiting" ? this.#call.waitsFor : undefined;
  }

  /** When the state was entered, in milliseconds of performance.now(). */
  get since(): number {
    return this.#call.since;
  }

  /**
   * Bytes of shadow stack that this fiber, or one before it in the same region, has used at most; while stacks are
   * copied, those it uses as it waits. What lay where the guest's allocator has put a region counts as used.
   */
  get stackUsed(): number {
    return this.#call.stackUsed;
  }

  /**
   * Ends the fiber without running any of its code: its frames are gone, and what they would have cleaned up stays as
   * it is. One that has not started never starts; one that runs ends at its next wait. The Promise rejects with a
   * FiberError with the code "released"; `signal` is aborted with it. Also for a fiber that ignores being cancelled. It
   * costs a stack, which a fiber that is cancelled leaves to the next.
   */
  release(): void {
    this.#call.drop();
  }
}
