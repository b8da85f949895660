// What a fiber and an arena have in common: a Promise that can be cancelled, and what is behind it.
//
// Being cancelled has two halves. First everything that is to end is told, so that none of it begins anything new; then
// each is made to end, in order.
// Why: RATIONALE.md, "Why does cancelling an arena have two halves?".

import { FiberError } from "../errors.js";

/** What is behind a Promise that can be cancelled. */
export abstract class Life {
  resolve!: (value: any) => void;
  reject!: (reason: unknown) => void;
  asked = false; // somebody waits for how it ends
  cancelled = false;
  reason: unknown = undefined;
  controller: AbortController | undefined = undefined;
  unlisten: (() => void) | undefined = undefined;

  /** The first half: it begins nothing new. Of several calls the first counts. */
  abstract cancel(reason: unknown): void;
  /** The second half: what it waits for ends. Until then nothing else ends it. */
  abstract interrupt(): void;

  /** A wait for it ends when it is over: cancelling who waits cancels it, and nothing more. */
  abstract get firm(): boolean;

  abstract get name(): string;
  /** Those that have to be over before this one can be. */
  abstract get after(): Iterable<Life>;

  /** Whether an error that it ends with is what it was cancelled with, and no failure. */
  cancelledBy(error: unknown): boolean {
    return this.cancelled && Object.is(error, this.reason);
  }

  protected abort(reason: unknown): void {
    this.cancelled = true;
    this.reason = reason;
    this.controller?.abort(reason);
  }

  signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.cancelled) this.controller.abort(this.reason);
    }
    return this.controller.signal;
  }

  /** Has a signal cancel it, until `unlisten` is called. */
  obey(signal: AbortSignal | undefined): void {
    if (!signal) return;
    const abort = () => {
      this.cancel(signal.reason);
      this.interrupt();
    };
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    this.unlisten = () => signal.removeEventListener("abort", abort);
  }
}

/** What most wait for. */
export const nobody: readonly Life[] = [];

/** Throws if one that is about to wait for another is who that waits for, by way of whomever. */
export function refuseCircle(waits: Life, on: Life): void {
  if (on !== waits && on.after === nobody) return; // a call of another guest's export comes by here each time
  const found = new Map([[on, waits]]); // each, and who waits for it
  for (let [each] of found) {
    if (each === waits) {
      const names = [each.name];
      do names.unshift((each = found.get(each)!).name);
      while (each !== waits);
      const fiber = waits.firm ? {} : { fiber: waits.name };
      throw new FiberError("deadlock", `fibers wait for each other in a circle: ${names.join(" -> ")}`, fiber);
    }
    for (const next of each.after) if (!found.has(next)) found.set(next, each);
  }
}

// One function for all of them: every call makes one.
let making: Life;
function keep(resolve: (value: any) => void, reject: (reason: unknown) => void): void {
  making.resolve = resolve;
  making.reject = reject;
}

/** A Promise that can be cancelled: a {@link Fiber} or an {@link Arena}. */
export abstract class Cancellable<T> extends Promise<T> {
  /** then, catch and finally return plain Promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  readonly #life: Life;

  /** @internal */
  constructor(life: Life) {
    // What Promise.resolve, all and the like, which are here by the name of Fiber, too, would give is a function.
    if (!(life instanceof Life))
      throw new FiberError(
        "bad-argument",
        "fibers and arenas are made by calls of exports and by arena, not by new, nor by the static functions of Promise: call those of Promise itself",
      );
    making = life;
    super(keep);
    this.#life = life;
  }

  /** @internal What is behind a value, if it is one of these. */
  static lifeOf(value: unknown): Life | undefined {
    // The first question is the cheaper one, and answers for all other Promises.
    return value instanceof Cancellable && #life in value ? value.#life : undefined;
  }

  /** As in every Promise. An arena takes note that somebody asks. */
  override then<A = T, B = never>(
    onfulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#life.asked = true;
    return super.then(onfulfilled, onrejected);
  }

  /**
   * Aborted, with the reason, when this is cancelled: hand it to fetch. That of an arena that is over is aborted, too.
   */
  get signal(): AbortSignal {
    return this.#life.signal();
  }

  /**
   * Ends this from outside; see {@link Fiber} and {@link Arena} for what that means. The reason is what the Promise
   * rejects with, any value; without one it is a FiberError with the code "cancelled". Cancelling again, or after the
   * end, does nothing.
   */
  cancel(reason?: unknown): void {
    this.#life.cancel(reason);
    this.#life.interrupt();
  }
}
