// What a fiber and an arena have in common: a Promise that can be cancelled, and the state behind it.
//
// Cancelling has two halves. First everything that has to end is told, so that none of it starts anything new. Then
// each part is made to end, in order.
// Why: RATIONALE.md, "Why does cancelling an arena have two halves?".

import { FiberError } from "../errors.js";
import { needLittle } from "./room.js";

/** The state behind a Promise that can be cancelled. */
export abstract class Life {
  resolve!: (value: any) => void;
  reject!: (reason: unknown) => void;
  asked = false; // somebody handles its outcome
  // A million calls may wait, and each field takes 8 bytes in each. So fields that hardly any of them needs do not
  // exist before they are set, here and in the classes that extend this one.
  declare cancelled?: boolean;
  declare reason?: unknown;
  declare controller?: AbortController;
  declare unlisten?: () => void;

  /** The first half: it starts nothing new from now on. Of several calls, the first counts. */
  abstract cancel(reason: unknown): void;
  /** The second half: its current wait ends. Nothing else ends that wait before. */
  abstract interrupt(): void;

  /**
   * Whether a wait for it always lasts until it has ended. Cancelling a fiber that waits for it then cancels it, too,
   * but does not end the wait.
   */
  abstract get firm(): boolean;

  abstract get name(): string;
  /** What has to end before this can end. */
  abstract get after(): Iterable<Life>;

  /** Begins it inside what it waits for, if it waits for its turn and that is possible. */
  nest(): boolean {
    return false;
  }

  /** Whether `error` is the reason that it was cancelled with, rather than a failure. */
  cancelledBy(error: unknown): boolean {
    return !!this.cancelled && Object.is(error, this.reason);
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

  /** Cancels it when the signal aborts, until `unlisten` is called. */
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

/** The usual value of `after`: it waits for no fiber and no arena. */
export const nobody: readonly Life[] = [];

/** Throws if this wait would close a cycle, unless a call in the cycle can begin inside the call before it. */
export function refuseCircle(waits: Life, on: Life): void {
  if (on !== waits && on.after === nobody) return; // fast path: every call of another guest's export comes by here
  for (let cycle; (cycle = findCycle(waits, on));) {
    if (cycle.some((each) => each.nest())) continue;
    const fiber = waits.firm ? {} : { fiber: waits.name };
    const names = [...cycle, waits].map(({ name }) => name).join(" -> ");
    throw new FiberError("deadlock", `fibers wait for each other in a cycle: ${names}`, fiber);
  }
}

/** The cycle that this wait would close: each member waits for the next one. */
function findCycle(waits: Life, on: Life): Life[] | undefined {
  const found = new Map([[on, waits]]); // each fiber or arena found, and what waits for it
  for (let [each] of found) {
    if (each === waits) {
      const cycle: Life[] = [];
      do cycle.unshift((each = found.get(each)!));
      while (each !== waits);
      return cycle;
    }
    for (const next of each.after) if (!found.has(next)) found.set(next, each);
  }
  return undefined;
}

// One function for all Promises: otherwise every call of an export would make a closure.
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
    // Promise's inherited statics, such as Fiber.resolve, call this constructor with an executor.
    if (!(life instanceof Life))
      throw new FiberError(
        "bad-argument",
        "fibers are made by calling exports, arenas by arena(); for Fiber.all write Promise.all",
      );
    // If the stack ended in keep, the Promise would be rejected, and nobody could settle it.
    needLittle();
    making = life;
    super(keep);
    this.#life = life;
  }

  /** @internal Returns the state behind a fiber or an arena, undefined for any other value. */
  static lifeOf(value: unknown): Life | undefined {
    // instanceof is the cheaper test, and answers for all other Promises.
    return value instanceof Cancellable && #life in value ? value.#life : undefined;
  }

  /** As in every Promise. An arena also notes that somebody handles the outcome. */
  override then<A = T, B = never>(
    onfulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onrejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#life.asked = true;
    return super.then(onfulfilled, onrejected);
  }

  /**
   * Aborts with the reason when this fiber or arena is cancelled; pass it to fetch. The signal of an arena that has
   * ended is aborted, too.
   */
  get signal(): AbortSignal {
    return this.#life.signal();
  }

  /**
   * Ends this fiber or arena from outside; see {@link Fiber} and {@link Arena} for how. The Promise rejects with the
   * reason, which may be any value; the default is a FiberError with the code "cancelled". Cancelling again, or after
   * the end, does nothing.
   */
  cancel(reason?: unknown): void {
    needLittle();
    this.#life.cancel(reason);
    this.#life.interrupt();
  }
}
