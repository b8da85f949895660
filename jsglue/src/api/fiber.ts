// What a call of an export returns.

import { Cancellable } from "../turn/life.js";
import type { FiberState } from "../turn/task.js";
import { Call, type Thunk } from "../guest/call.js";
import type { Binding } from "../guest/binding.js";
import type { Stacks } from "../guest/stacks.js";
import { needLittle } from "../turn/room.js";
import { nextId } from "../turn/spawn.js";

/** Makes a call and its Fiber. Nothing has begun yet. */
export function newCall(thunk: Thunk, binding: Binding, args: readonly unknown[], name?: string): Call {
  const call = new Call(nextId(), name, thunk, binding, args);
  call.fiber = new Fiber(call);
  return call;
}

/**
 * One call of an export: a Promise of its result that can be inspected and cancelled. It settles exactly once, when the
 * export has ended. It resolves with what the export returned (undefined for no result, an array for several) or
 * rejects with what it threw, unchanged. A trap rejects it with a {@link FiberError}.
 *
 * A fiber that is cancelled before it has started never starts. In a fiber that waits, the import throws the reason, so
 * that the guest's own cleanup runs; every later wait throws it again, and after 1,000 of them a trap ends the fiber
 * (code "cancel-ignored"). A running fiber is cancelled at its next wait. A fiber that waits for an {@link Arena} goes
 * on once the arena, which is cancelled with it, has ended. The Promise rejects with the reason, unless the guest
 * catches it and returns.
 */
// [J-EXP-1, J-EXP-2]
export class Fiber<T = unknown> extends Cancellable<T> {
  /** @internal */
  static override get name(): string {
    return "Fiber";
  }

  readonly #call: Call;

  /** @internal */
  constructor(call: Call) {
    super(call);
    this.#call = call;
  }

  /** A number that no other fiber of this page has. Numbers count up from 1. */
  get id(): number {
    return this.#call.id;
  }

  /** The name given by `with`; by default the export's name and the id. */
  get name(): string {
    return this.#call.name;
  }

  /** The name of the export. */
  get export(): string {
    return this.#call.exportName;
  }

  /** Where it stands. It can change whenever the page's own code gives control back. */
  get state(): FiberState {
    return this.#call.state;
  }

  /** The import that the fiber waits in, such as "env.fetch_text"; undefined unless it waits. */
  get waitsFor(): string | undefined {
    return this.#call.state === "waiting" ? this.#call.waitsFor : undefined;
  }

  /**
   * The guest's functions that the fiber waits in, innermost first, as the engine's own stacks name them:
   * "module.function" by the guest's names, or "wasm-function[12]". They are looked up as this is read, which takes
   * some microseconds each. Undefined unless the fiber waits on a stack of fiberfill's own (`stacks: "unwind"`), and in
   * Bun 1.2, whose stacks name no functions of wasm.
   */
  get frames(): readonly string[] | undefined {
    return this.#call.runner.stack?.frames;
  }

  /** When the fiber entered its state, in milliseconds of performance.now(). */
  get since(): number {
    return this.#call.since;
  }

  /**
   * The most bytes of shadow stack that this fiber, or an earlier one in the same region, has used; while stacks are
   * copied, the bytes in use as the fiber waits. If the region came from the guest's allocator, old data in it counts
   * as used.
   */
  get stackUsed(): number {
    return this.#call.stackUsed;
  }

  /** How the shadow stacks of calls of its guest are kept. */
  get stacks(): Stacks {
    return this.#call.binding.stacks;
  }

  /**
   * Ends the fiber without running any of its code: its frames are gone, and what they would have cleaned up stays as
   * it is. A fiber that has not started never starts; a running one ends at its next wait. `signal` aborts, and the
   * Promise rejects with a FiberError with the code "released". This also ends a fiber that ignores its cancellation.
   * It destroys the fiber's stack, which cancelling leaves for the next fiber.
   */
  release(): void {
    needLittle();
    this.#call.drop();
  }
}
