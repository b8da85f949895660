// Structured concurrency: no fiber started in an arena outlives it. A resource that is opened before an arena and
// closed after it stays open for as long as any of the arena's fibers runs, whichever way the arena ends.
//
// An arena ends the way a stack unwinds. All its fibers are cancelled at once, so that none of them starts anything
// new. Then they end one after another, the last started first, because a later fiber may use what an earlier one
// started.
// Why: RATIONALE.md, "Why does an arena in JavaScript end when its function returns?".

import { FiberError, words } from "../errors.js";
import { checkSignal } from "./exports.js";
import type { Fiber } from "./fiber.js";
import { Cancellable, Life, refuseCircle } from "../turn/life.js";
import { settleInOrder } from "../turn/settle.js";
import { then, wrong } from "../values.js";

/** Options of {@link arena}, {@link all} and {@link race}. */
export interface ArenaOptions {
  /** Cancels the arena with the signal's reason when the signal aborts. `AbortSignal.timeout(ms)` makes a timeout. */
  signal?: AbortSignal | undefined;
}

/** The state behind an {@link Arena}. */
class Scope extends Life {
  readonly #members = new Set<Life>(); // members that have not ended, in the order in which they were added
  readonly #failures: { by: Life; error: unknown; late: boolean }[] = [];
  #ending: Life[] | undefined; // members yet to be interrupted, the next one last; undefined: the arena is not ending
  #asked: Life | undefined; // the member that has been interrupted and has not ended yet
  #closed = false;
  #over = false;
  #threw = false;
  #outcome: unknown;

  constructor(readonly inOrder: boolean) {
    super();
  }

  get firm(): boolean {
    return true;
  }

  get name(): string {
    return "an arena";
  }

  get after(): Iterable<Life> {
    return this.#members;
  }

  override signal(): AbortSignal {
    const signal = super.signal();
    if (this.#over && !signal.aborted) this.controller!.abort(over());
    return signal;
  }

  /** An arena without members may already have settled. */
  override obey(signal: AbortSignal | undefined): void {
    if (!this.#over) super.obey(signal);
  }

  /** Adds a fiber or an arena to this one. Calls `done` or `failed` when it settles. */
  add(member: Cancellable<any>, done?: (value: any) => void, failed?: (error: unknown) => void): void {
    const life = Cancellable.lifeOf(member);
    if (!life) throw wrong("an arena's member is a fiber or an arena", member);
    if (this.#over) {
      life.cancel(over());
      return life.interrupt();
    }
    refuseCircle(this, life);
    this.#members.add(life);
    // Not member.then: that would count as somebody handling the outcome.
    Promise.prototype.then.call(
      member,
      (value) => {
        this.#members.delete(life);
        done?.(value);
        this.#left(life);
      },
      (error) => {
        this.#members.delete(life);
        if (!life.cancelledBy(error)) this.#failures.push({ by: life, error, late: !!this.cancelled });
        failed?.(error);
        this.#left(life);
      },
    );
    if (this.cancelled) life.cancel(this.reason);
    if (this.#ending) {
      this.#ending.push(life);
      this.#endNext();
    }
  }

  cancel(reason: unknown): void {
    if (this.cancelled || this.#over) return;
    this.abort(reason === undefined ? new FiberError("cancelled", "the arena was cancelled") : reason);
    for (const life of this.#members) life.cancel(this.reason);
  }

  interrupt(): void {
    if (!this.cancelled || this.#ending) return;
    this.#ending = [...this.#members];
    // A race's losers end in their order; a cancelled race ends as every arena does.
    if (this.inOrder && this.#closed) this.#ending.reverse();
    this.#endNext();
  }

  #endNext(): void {
    while (!this.#asked && this.#ending?.length) {
      const life = this.#ending.pop()!;
      if (!this.#members.has(life)) continue;
      this.#asked = life;
      life.cancel(this.reason); // a listener of a member's signal may cancel again, and get here before all are told
      life.interrupt();
    }
  }

  #left(life: Life): void {
    if (this.#asked === life) {
      this.#asked = undefined;
      this.#endNext();
    }
    this.#settle();
  }

  /** Decides how the arena ends, and cancels the members that have not ended. The first call counts. */
  close(threw: boolean, outcome: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#threw = threw;
    this.#outcome = outcome;
    if (this.#members.size > 0 || this.controller) {
      const why = threw
        ? `the arena failed: ${words(outcome)}`
        : this.inOrder
          ? "another member won the race"
          : "the arena's function has returned";
      this.cancel(new FiberError("cancelled", why, threw ? { cause: outcome } : {}));
      this.interrupt();
    }
    this.#settle();
  }

  #settle(): void {
    if (!this.#closed || this.#over || this.#members.size > 0) return;
    this.#over = true;
    this.unlisten?.();
    const errors = new Set(this.#threw ? [this.#outcome] : []);
    // Whoever handles a failure keeps it. But once the arena is ending, nobody may be listening any more.
    for (const { by, error, late } of this.#failures) if (late || !by.asked) errors.add(error);
    if (errors.size === 0) return settleInOrder(this, false, this.#outcome);
    const [first, ...others] = errors;
    if (others.length > 0) attach(first, others);
    settleInOrder(this, true, first, SCRIPT_TAG || this.cancelledBy(first) ? undefined : "arena (fiberfill)");
  }
}

const over = () => new FiberError("cancelled", "the arena has ended");

/** Attaches the errors that a Promise cannot reject with, since it rejects with one only. */
function attach(first: any, others: unknown[]): void {
  try {
    if (Object.isExtensible(first)) {
      first.suppressed = [].concat(first.suppressed ?? [], others as never[]);
      return;
    }
  } catch {
    // The property cannot be written, or the error is a Proxy. Nothing can be attached.
  }
  for (const other of others) void Promise.reject(other); // reported as unhandled, so that none is lost
}

/**
 * A Promise that settles when all fibers started in it have ended: no fiber outlives its arena. Made by {@link arena},
 * {@link all} and {@link race}.
 *
 * Cancelling an arena cancels all its fibers at once; they then end one after another, the last started first. The
 * arena rejects with the reason, unless its function catches the cancellation and returns.
 *
 * If an import returns an arena, the fiber that called the import waits for it. Cancelling that fiber cancels the
 * arena, and the fiber goes on once the arena has ended: children end before their parents.
 */
export class Arena<T = unknown> extends Cancellable<T> {
  /** @internal */
  static override get name(): string {
    return "Arena";
  }

  readonly #scope: Scope;

  /** @internal */
  constructor(scope: Scope) {
    super(scope);
    this.#scope = scope;
  }

  /**
   * Adds a fiber or another arena to this arena and returns it: `a.go(exports.item(url))`. If this arena is ending or
   * has ended, the new member is cancelled at once.
   */
  go<M extends Cancellable<any>>(member: M): M {
    this.#scope.add(member);
    return member;
  }
}

/** A member of `all` and `race`. */
type Member = Fiber<any> | Arena<any>;

/**
 * Calls `fn` with a new arena, at once; `fn` starts fibers with {@link Arena.go}. When `fn` has returned, or the
 * Promise that it returned has settled, members that have not ended are cancelled. So `fn` awaits the members whose
 * results it wants. Once all members have ended, the arena resolves with what `fn` returned or rejects with what it
 * threw, unchanged.
 *
 * No failure is lost. The arena reports a member's failure if nobody has handled it with `await`, `then` or `catch`, or
 * if it came while the arena was ending. If `fn` has not thrown, the arena rejects with the first such failure. The
 * others are in the `suppressed` array of the error that the arena rejects with; if that error cannot take the
 * property, they become unhandled rejections.
 *
 * `fn` is JavaScript and cannot be ended from outside: the arena does not end before `fn` does. Give the arena's
 * `signal` to whatever else `fn` waits for; it aborts when the arena is cancelled or has ended. If the signal in the
 * options has already aborted, `fn` is not called.
 */
export function arena<T>(fn: (arena: Arena) => T | PromiseLike<T>, options?: ArenaOptions): Arena<T> {
  return open<T>(false, options, (scope, self) => {
    if (typeof fn !== "function") throw wrong("arena takes a function", fn);
    if (scope.cancelled) return;
    const result = fn(self);
    if (result === (self as unknown))
      throw new FiberError("deadlock", "the arena's function returned the arena itself: each would wait for the other");
    then.call(
      Promise.resolve(result),
      (value) => scope.close(false, value),
      (error) => scope.close(true, error),
    );
  });
}

/**
 * Makes an arena of these fibers or arenas. It resolves with their values, in order, once all have ended. If one of
 * them rejects, the others are cancelled with a FiberError whose `cause` is that error; once they have ended, the arena
 * rejects with the error, unchanged. If others fail with errors of their own, those are in its `suppressed` array, as
 * in {@link arena}.
 */
export function all<M extends readonly Member[] | []>(
  members: M,
  options?: ArenaOptions,
): Arena<{ -readonly [K in keyof M]: Awaited<M[K]> }>;
/** The same for an iterable that is not an array. */
export function all<M extends Member>(members: Iterable<M>, options?: ArenaOptions): Arena<Awaited<M>[]>;
export function all(members: Iterable<Member>, options?: ArenaOptions): Arena<any> {
  return open<unknown[]>(false, options, (scope) => {
    const list = listOf(scope, members);
    const values: unknown[] = [];
    let left = list.length;
    if (left === 0 && !scope.cancelled) scope.close(false, values);
    enter(scope, list, (value, i) => {
      values[i] = value;
      if (--left === 0) scope.close(false, values);
    });
  });
}

/**
 * Makes an arena of these fibers or arenas. The first to settle wins: the others are cancelled and end one after
 * another, in order, and then the arena settles as the winner did. If a loser fails with an error of its own, the race
 * rejects: with the winner's error if the winner failed, otherwise with the loser's; see `suppressed` in {@link arena}.
 * A race without members rejects.
 */
export function race<M extends Member>(members: Iterable<M>, options?: ArenaOptions): Arena<Awaited<M>> {
  return open<any>(true, options, (scope) => {
    const list = listOf(scope, members);
    if (list.length === 0) throw new FiberError("bad-argument", "a race without members would never end");
    enter(scope, list, (value) => scope.close(false, value));
  });
}

/** Lists the members. If their iterator throws, the members before that still belong to the arena. */
function listOf(scope: Scope, members: Iterable<Member>): Member[] {
  if (typeof members?.[Symbol.iterator] !== "function")
    throw wrong("all and race take an iterable of fibers or arenas", members);
  const list: Member[] = [];
  try {
    for (const member of members) list.push(member);
  } catch (error) {
    enter(scope, list, () => {});
    throw error;
  }
  return list;
}

/** Adds all members, even if one of them is invalid: the valid ones must not outlive the arena. */
function enter(scope: Scope, members: Member[], done: (value: unknown, i: number) => void): void {
  let wrong: unknown;
  members.forEach((member, i) => {
    try {
      scope.add(
        member,
        (value) => done(value, i),
        (error) => scope.close(true, error),
      );
    } catch (error) {
      wrong ??= error;
    }
  });
  if (wrong) throw wrong;
}

function open<T>(
  inOrder: boolean,
  options: ArenaOptions | undefined,
  start: (scope: Scope, self: Arena<T>) => void,
): Arena<T> {
  const scope = new Scope(inOrder);
  const self = new Arena<T>(scope);
  let signal: AbortSignal | undefined;
  try {
    signal = signalOf(options);
    if (signal?.aborted) scope.cancel(signal.reason);
  } catch (error) {
    scope.cancel(error);
  }
  const ends = scope.cancelled;
  try {
    start(scope, self); // members belong to the arena even if it ends at once
    if (ends) scope.close(true, scope.reason);
    scope.obey(signal);
  } catch (error) {
    scope.close(true, error);
  }
  return self;
}

function signalOf(options: unknown): AbortSignal | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== "object" || options === null)
    throw wrong("options must be an object such as { signal }", options);
  const { signal } = options as ArenaOptions;
  checkSignal(signal);
  return signal;
}
