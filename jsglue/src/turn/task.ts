// What the scheduler's driver knows of one fiber: its place in the core, its state, what it waits for, whether it has
// been cancelled. What its code is, and what holds its stack, is known elsewhere (guest/call.ts, substrate/).

import { FiberError, isA } from "../errors.js";
import type { Fiber } from "../api/fiber.js";
import type { Runner, Stack } from "../substrate/substrate.js";
import { cancel, interrupt, kill } from "./cancel.js";
import { Life, nobody } from "./life.js";

/**
 * Where a fiber stands. `queued`: its export has not started. `running`: its code runs, or is about to. `waiting`: it
 * waits for an import's Promise, for time, or after that for its turn. The other three are ends. `done`: its export
 * returned. `failed`: it threw. `cancelled`: it threw the reason that the fiber was cancelled with.
 */
export type FiberState = "queued" | "running" | "waiting" | "done" | "failed" | "cancelled";

export abstract class Task extends Life {
  reference = 0; // its reference in the core
  state: FiberState = "queued";
  since = 0;
  waitsFor: string | undefined = undefined;
  fiber!: Fiber<any>; // what the user sees of it

  /** What runs on its stack now: itself, or a fiber that its guest has made. */
  runner!: Runner;
  declare over?: boolean; // it has ended inside the call that began it: the core knows, the user does not yet

  waits = 0; // number of waits begun, as in the core
  outcome: unknown = undefined; // what the current wait ends with
  /**
   * Takes what the current wait has brought and makes the stack go on or throw. If undefined, the stack goes on
   * with the outcome itself.
   */
  deliver: ((value: unknown, stack: Stack) => void) | undefined = undefined;
  awaited: object | undefined = undefined; // the Promise of the current wait, until leaks.ts takes it
  on: Life | undefined = undefined; // the fiber or arena that the current wait is for

  declare held?: boolean; // cancelled, but it is not yet this fiber's turn to end
  declare swallowed?: number; // waits begun since it was cancelled
  declare death?: unknown; // why fiberfill has ended its stack by a trap
  declare given?: string; // the name that the user gave

  constructor(readonly id: number) {
    super();
  }

  abstract get exportName(): string;
  /** Whether it must wait unstarted, because calls of its guest run one after another. */
  abstract defers(): boolean;
  /** Begins it on a kept stack, in a later microtask. */
  abstract begin(): void;
  /** Gives back what it used. It has ended. */
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

  /** The call that must end before this one begins. */
  get before(): Task | undefined {
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

  /** A fiber that is cancelled and then released ends with either error: its code may already have been on its way. */
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
