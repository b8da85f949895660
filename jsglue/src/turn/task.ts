// What the scheduler's driver knows of one fiber: its place in the core, its state, what it waits for, whether it has
// been cancelled. What its code is, and what holds its stack, others know (guest/call.ts, substrate/).

import { FiberError, isA } from "../errors.js";
import type { Fiber } from "../api/fiber.js";
import type { Runner, Stack } from "../substrate/substrate.js";
import { cancel, interrupt, kill } from "./cancel.js";
import { Life, nobody } from "./life.js";

/**
 * Where a fiber stands. `queued`: its export has not started. `running`: its code runs, or is about to. `waiting`: for
 * an import's Promise, for time, or for its turn after that. The other three are ends: its export returned, threw, or
 * threw the reason for which it was cancelled.
 */
export type FiberState = "queued" | "running" | "waiting" | "done" | "failed" | "cancelled";

export abstract class Task extends Life {
  reference = 0; // in the core
  state: FiberState = "queued";
  since = 0;
  waitsFor: string | undefined = undefined;
  fiber!: Fiber<any>; // its face

  /** What runs on its stack now: itself, or a fiber that its guest has made. */
  runner!: Runner;
  over = false; // it has ended inside the call that began it, and that is not told yet

  waits = 0; // waits begun, as the core counts them
  failed = false; // the current wait ends with an exception
  outcome: unknown = undefined; // what the current wait ends with
  /**
   * Takes the value that the current wait has brought, and has the stack go on; undefined: it goes on with the value.
   */
  deliver: ((value: unknown, stack: Stack) => void) | undefined = undefined;
  awaited: object | undefined = undefined; // the Promise of the current wait, until leaks.ts has taken it
  on: Life | undefined = undefined; // the fiber or arena that the current wait is for

  held = false; // cancelled, and its turn to end has not come
  swallowed = 0; // waits begun since it was cancelled
  death: unknown = undefined; // why its stack was ended by a trap of ours

  constructor(
    readonly id: number,
    readonly given: string | undefined, // name
    readonly exportName: string,
  ) {
    super();
  }

  /** Whether it has to wait, unstarted, because calls of its guest go one after another. */
  abstract defers(): boolean;
  /** Has it begin on a stack that is kept for such: it runs in a later microtask. */
  abstract begin(): void;
  /** Has it begin inside this call, below the code of `caller`; returns when it waits or has ended. */
  abstract beginHere(caller: Task | undefined): void;
  /** It is over: gives back what it used. */
  abstract release(): void;

  get name(): string {
    return this.given ?? `${this.exportName}#${this.id}`;
  }

  get firm(): boolean {
    return false;
  }

  get after(): readonly Life[] {
    const next = this.state === "waiting" ? this.on : this.state === "queued" ? this.before : undefined;
    return next ? [next] : nobody;
  }

  /** The call that has to be over before this one begins. */
  protected get before(): Life | undefined {
    return undefined;
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

  /** Ends it by a trap. */
  kill(death: unknown): void {
    kill(this, death);
  }

  /** Ends it without running any of its code. */
  drop(): void {
    if (this.death !== undefined || this.state === "done" || this.state === "failed" || this.state === "cancelled")
      return;
    this.death = new FiberError("released", `fiber ${this.name} was released in export ${this.exportName}`, {
      fiber: this.name,
    });
    this.cancel(this.death);
    this.interrupt();
  }
}
