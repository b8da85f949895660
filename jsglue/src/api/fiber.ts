// What a fiber is on this side of the border: a Task, which the glue works with, and a Fiber, the face that it shows to
// the user.

import { FiberError, isA } from "../errors.js";
import { Cancellable, Life, nobody } from "./life.js";
import type { Worker } from "../substrate/jspi.js";
import type { Binding } from "../guest/binding.js";
import type { Region } from "../guest/regions.js";
import type { Thunk } from "./exports.js";
import { cancel, interrupt, kill } from "../turn/loop.js";
import { encode, none, type Encoded } from "../guest/transfer.js";

/**
 * Where a fiber stands. `queued`: its export has not started. `running`: its code runs, or is about to. `waiting`: for
 * an import's Promise, for time, or for its turn after that. The other three are ends: its export returned, threw, or
 * threw the reason for which it was cancelled.
 */
export type FiberState = "queued" | "running" | "waiting" | "done" | "failed" | "cancelled";

/** All that the glue knows of one call of an export. */
export class Task extends Life {
  reference = 0; // in the core
  state: FiberState = "queued";
  since = 0;
  waitsFor: string | undefined = undefined;
  readonly fiber: Fiber<unknown>;

  worker: Worker | undefined = undefined;
  region: Region | undefined = undefined;
  high = 0; // where its shadow stack begins
  touched = false; // something may have been written to the guard of its region
  abroad = false; // it has waited in the import of another guest than its own: stubs and thunks may look at a region that is not its own
  over = false; // it has ended inside the call that began it, and that is not told yet
  encoded: Encoded; // the strings and bytes among args
  cursor = 0; // the next of args that the thunk asks for
  length = -1; // of the bytes whose pointer was handed out last; -1: none
  top = 0; // where the next bytes among the arguments are put; 0 before the first
  result: unknown = undefined;
  threw = false; // result is what the export threw

  calling = false; // a marked import, which runs
  waits = 0; // waits begun, as the core counts them
  wake!: (value: unknown) => void;
  failed = false; // the current wait ends with an exception
  outcome: unknown = undefined; // what the current wait ends with
  awaited: object | undefined = undefined; // the Promise of the current wait, until leaks.ts has taken it
  on: Life | undefined = undefined; // the fiber or arena that the current wait is for
  saved: Uint8Array | undefined = undefined; // shadow stack bytes, copied out
  savedAt = 0; // where they belong; where its frames end, also while they are in their place
  last: Binding | undefined = undefined; // the guest in whose import it has waited last, if that has one stack that is copied
  alone = true; // on the one stack that is copied: it does not run inside an import of another, whose frames may go on over its own

  held = false; // cancelled, and its turn to end has not come
  swallowed = 0; // waits begun since it was cancelled
  death: unknown = undefined; // why its stack was ended by a trap of ours
  lost: FiberError | undefined = undefined; // somebody else has written over its shadow stack

  constructor(
    readonly id: number,
    readonly given: string | undefined, // name
    readonly thunk: Thunk,
    readonly binding: Binding,
    public args: readonly unknown[],
  ) {
    super();
    this.fiber = new Fiber(this);
    this.encoded = thunk.jspi ? none : encode(args);
  }

  get exportName(): string {
    return this.thunk.name;
  }

  get name(): string {
    return this.given ?? `${this.thunk.name}#${this.id}`;
  }

  get firm(): boolean {
    return false;
  }

  get after(): readonly Life[] {
    const { entry } = this.binding.machine ?? {};
    const next = this.state === "waiting" ? this.on : this.state === "queued" && entry !== this ? entry : undefined;
    return next ? [next] : nobody;
  }

  cancel(reason: unknown): void {
    if (this.cancelled || this.state === "done" || this.state === "failed") return;
    this.held = true;
    this.abort(
      reason === undefined
        ? new FiberError("cancelled", `fiber ${this.name} was cancelled in export ${this.exportName}`, {
            fiber: this.name,
          })
        : reason,
    );
    cancel(this);
  }

  /** One that is cancelled and then released ends with either, as its code was on its way already or not. */
  override cancelledBy(error: unknown): boolean {
    return super.cancelledBy(error) || (error === this.death && isA(error, FiberError) && error.code === "released");
  }

  interrupt(): void {
    interrupt(this);
  }

  lose(error: FiberError): void {
    this.lost = error;
    kill(this, error);
  }

  release(): void {
    if (this.death !== undefined || this.state === "done" || this.state === "failed" || this.state === "cancelled")
      return;
    this.death = new FiberError("released", `fiber ${this.name} was released in export ${this.exportName}`, {
      fiber: this.name,
    });
    this.cancel(this.death);
    this.interrupt();
  }
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
  readonly #task: Task;

  /** @internal */
  constructor(task: Task) {
    super(task);
    this.#task = task;
  }

  /** A number that no other fiber of this page has; they count up from 1. */
  get id(): number {
    return this.#task.id;
  }

  /** The name given by `with`, or the export's name and the id. */
  get name(): string {
    return this.#task.name;
  }

  /** The name of the export. */
  get export(): string {
    return this.#task.exportName;
  }

  get state(): FiberState {
    return this.#task.state;
  }

  /** While waiting: for which import, such as "env.fetch_text". */
  get waitsFor(): string | undefined {
    return this.#task.state === "waiting" ? this.#task.waitsFor : undefined;
  }

  /** When the state was entered, in milliseconds of performance.now(). */
  get since(): number {
    return this.#task.since;
  }

  /**
   * Bytes of shadow stack that this fiber, or one before it in the same region, has used at most; while stacks are
   * copied, those it uses as it waits. What lay where the guest's allocator has put a region counts as used.
   */
  get stackUsed(): number {
    const task = this.#task;
    return task.saved ? task.saved.length : task.region ? task.binding.regions!.used(task.region) : 0;
  }

  /**
   * Ends the fiber without running any of its code: its frames are gone, and what they would have cleaned up stays as
   * it is. One that has not started never starts; one that runs ends at its next wait. The Promise rejects with a
   * FiberError with the code "released"; `signal` is aborted with it. Also for a fiber that ignores being cancelled. It
   * costs a stack, which a fiber that is cancelled leaves to the next.
   */
  release(): void {
    this.#task.release();
  }
}
