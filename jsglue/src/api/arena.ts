// Arenas: scopes that no fiber started in them outlives. What is opened before an arena and closed after it is open as
// long as any fiber of it runs, whichever way the arena ends.
//
// An arena ends as a stack unwinds: all its fibers are cancelled at once, so that none begins anything new, but they
// end one after the other, the last started first, because what was started later may use what was started earlier.
// Why: RATIONALE.md, "Why does an arena in JavaScript end when its function returns?".

import { FiberError, words } from "../errors.js";
import { checkSignal } from "./exports.js";
import type { Fiber } from "./fiber.js";
import { Cancellable, Life, refuseCircle } from "../turn/life.js";
import { describe, then } from "../values.js";

/** How an arena differs from others. */
export interface ArenaOptions {
  /** Cancels the arena, with the signal's reason, when it is aborted: `AbortSignal.timeout(ms)` is the timeout. */
  signal?: AbortSignal | undefined;
}

/** What is behind an arena. */
class Scope extends Life {
  readonly #members = new Set<Life>(); // that are not over, in the order in which they came
  readonly #failures: { by: Life; error: unknown; late: boolean }[] = [];
  #ending: Life[] | undefined; // those yet to be ended, the next one last; undefined: nobody is
  #asked: Life | undefined; // has been told to end, and is not over
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

  /** One of nobody is over already. */
  override obey(signal: AbortSignal | undefined): void {
    if (!this.#over) super.obey(signal);
  }

  /** Has a fiber or an arena belong to this one. done and failed are told how it ends. */
  add(member: Cancellable<any>, done?: (value: any) => void, failed?: (error: unknown) => void): void {
    const life = Cancellable.lifeOf(member);
    if (!life)
      throw new FiberError("bad-argument", `what belongs to an arena is a fiber or an arena, got ${describe(member)}`);
    if (this.#over) {
      life.cancel(over());
      return life.interrupt();
    }
    refuseCircle(this, life);
    this.#members.add(life);
    // Not member.then, which takes note that somebody asks.
    Promise.prototype.then.call(
      member,
      (value) => {
        this.#members.delete(life);
        done?.(value);
        this.#left(life);
      },
      (error) => {
        this.#members.delete(life);
        if (!life.cancelledBy(error)) this.#failures.push({ by: life, error, late: this.cancelled });
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
    if (this.inOrder && this.#closed) this.#ending.reverse(); // who has lost a race; one that is cancelled ends as all arenas do
    this.#endNext();
  }

  #endNext(): void {
    while (!this.#asked && this.#ending?.length) {
      const life = this.#ending.pop()!;
      if (!this.#members.has(life)) continue;
      this.#asked = life;
      life.cancel(this.reason); // who hears the signal of one of them, and cancels again, may be here before all have been told
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

  /** How the arena ends is known; who is not over then is cancelled. The first call counts. */
  close(threw: boolean, outcome: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#threw = threw;
    this.#outcome = outcome;
    if (this.#members.size > 0 || this.controller) {
      const why = threw
        ? `this arena has failed: ${words(outcome)}`
        : this.inOrder
          ? "another fiber has won the race"
          : "the function of the arena has returned";
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
    // A failure that somebody has asked for is theirs; but after the end began nobody may be listening any more.
    for (const { by, error, late } of this.#failures) if (late || !by.asked) errors.add(error);
    if (errors.size === 0) return this.resolve(this.#outcome);
    const [first, ...others] = errors;
    if (others.length > 0) attach(first, others);
    this.reject(first);
  }
}

const over = () => new FiberError("cancelled", "the arena is over");

/** Tells of more errors than a Promise can reject with. */
function attach(first: any, others: unknown[]): void {
  try {
    if (Object.isExtensible(first)) {
      first.suppressed = [].concat(first.suppressed ?? [], others as never[]);
      return;
    }
  } catch {
    // A property that cannot be written, or a Proxy: nothing can be attached to those either.
  }
  for (const other of others) void Promise.reject(other); // to whoever listens for errors that nobody is told
}

/**
 * A scope that no fiber started in it outlives: a Promise that settles when all of them have ended; made by {@link
 * arena}, {@link all} and {@link race}.
 *
 * Cancelled, its fibers are all cancelled at once, and end one after the other, the last started first. The Promise
 * rejects with the reason, unless the arena's function catches it and returns.
 *
 * An import that returns an arena has its fiber wait for it. If that fiber is cancelled so is the arena, and the fiber
 * goes on when it is over: children end before their parents.
 */
export class Arena<T = unknown> extends Cancellable<T> {
  readonly #scope: Scope;

  /** @internal */
  constructor(scope: Scope) {
    super(scope);
    this.#scope = scope;
  }

  /**
   * Has a fiber belong to this arena, or another arena, and returns it: `a.go(exports.item(url))`. In an arena that is
   * being ended, or is over, it is cancelled at once.
   */
  go<M extends Cancellable<any>>(member: M): M {
    this.#scope.add(member);
    return member;
  }
}

/** What `all` and `race` take. */
type Member = Fiber<any> | Arena<any>;

/**
 * Calls fn with a new arena, at once; fn starts fibers in it by `go`. When fn has returned, or the Promise that it
 * returned has settled, fibers that are not over are cancelled, so it awaits those whose end it wants to see. The arena
 * then resolves with what fn returned, or rejects with what it threw, unchanged.
 *
 * A failure that nobody has asked for, neither by `await` nor by then or catch, and a failure while the arena ends, is
 * not lost: if fn has not thrown the arena rejects with the first, and the others stand in the `suppressed` array of
 * the error that it rejects with. (If that error is no object they are unhandled rejections.)
 *
 * fn is JavaScript and cannot be ended from outside: the arena is over when fn is. What it waits for besides fibers it
 * gives `signal`, which is aborted when the arena is cancelled or fn is over. If the signal of the options is aborted
 * already fn is not called.
 */
export function arena<T>(fn: (arena: Arena) => T | PromiseLike<T>, options?: ArenaOptions): Arena<T> {
  return open<T>(false, options, (scope, self) => {
    if (typeof fn !== "function") throw new FiberError("bad-argument", `arena takes a function, got ${describe(fn)}`);
    if (scope.cancelled) return;
    const result = fn(self);
    if (result === (self as unknown))
      throw new FiberError("deadlock", "the function of the arena has returned the arena, which is over when that is");
    then.call(
      Promise.resolve(result),
      (value) => scope.close(false, value),
      (error) => scope.close(true, error),
    );
  });
}

/**
 * An arena of these fibers, or arenas. It resolves with their values, in their order, when all are over. When one of
 * them rejects, the others are cancelled, with a FiberError that has the error as its cause, and it rejects with that
 * error, unchanged, when they are over. If others fail in their own ways, those errors are in its `suppressed` array,
 * as in {@link arena}.
 */
export function all<M extends readonly Member[] | []>(
  members: M,
  options?: ArenaOptions,
): Arena<{ -readonly [K in keyof M]: Awaited<M[K]> }>;
/** The same for members that are in no array. */
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
 * An arena of these fibers, or arenas. It settles as the first of them that is over, when the others, which are
 * cancelled then, are over, too: one after the other, in their order. If one of those fails in its own way the race
 * rejects, with the winner's error if that has failed, else with the loser's; see `suppressed` in {@link arena}. Nobody
 * wins a race of nobody: it rejects.
 */
export function race<M extends Member>(members: Iterable<M>, options?: ArenaOptions): Arena<Awaited<M>> {
  return open<any>(true, options, (scope) => {
    const list = listOf(scope, members);
    if (list.length === 0) throw new FiberError("bad-argument", "a race of nobody would never end");
    enter(scope, list, (value) => scope.close(false, value));
  });
}

/** All members. If their iterator throws those before belong to the arena, too. */
function listOf(scope: Scope, members: Iterable<Member>): Member[] {
  if (typeof members?.[Symbol.iterator] !== "function")
    throw new FiberError("bad-argument", `all and race take a list of fibers, or arenas, got ${describe(members)}`);
  const list: Member[] = [];
  try {
    for (const member of members) list.push(member);
  } catch (error) {
    enter(scope, list, () => {});
    throw error;
  }
  return list;
}

/** Adds all members, also if one of them is none: they are not to outlive the arena. */
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
    start(scope, self); // members belong to it also if it ends at once
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
    throw new FiberError("bad-argument", `options are an object such as { signal }, got ${describe(options)}`);
  const { signal } = options as ArenaOptions;
  checkSignal(signal);
  return signal;
}
