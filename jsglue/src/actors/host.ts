// The runtime, as one actor sees it.

import type { Actor } from "./actor.js";
import { ActorError } from "./errors.js";
import { shown } from "../values.js";
import { NOT_RUNNING, PARK, REFUSED } from "./wheel.js";

/** A message to an actor. The payload is the receiver's own copy. */
export interface Message {
  /** A number that sender and receiver have agreed on. */
  type: number;
  /** The sender; 0: outside of the runtime. */
  source: number;
  /** Empty if there is none. */
  payload: Uint8Array;
}

/** What a blocking call returns, at once or when the actor goes on: 0 for success, -1 for failure. */
export type Result = number | Promise<number>;

/**
 * What an actor can ask of its runtime: the functions that a guest imports from "env", where their names begin with
 * mk_. A host belongs to one actor. Only its running handler may make the blocking calls; at any other time they throw
 * an ActorError with the code "not-running". An actor without a stack, as all native ones are, gets -1 from them at
 * once.
 */
export class Host {
  /** @internal */
  static get name(): string {
    return "Host";
  }

  readonly #actor: Actor;

  /** @internal */
  constructor(actor: Actor) {
    this.#actor = actor;
  }

  /** mk_self: the actor's number. */
  get self(): number {
    return this.#actor.id;
  }

  /**
   * mk_send: puts a copy of `payload` into the mailbox of an actor. Returns 0, or -1 if there is no such actor or its
   * mailbox is full.
   */
  send(to: number, type: number, payload: Uint8Array | string = ""): 0 | -1 {
    return this.#actor.runtime.deliver(this.self, to, type, payload) === 0 ? 0 : -1;
  }

  /** mk_log: hands the text to the runtime's log. */
  log(level: number, text: string): void {
    this.#actor.runtime.options.log?.(this.self, level, text);
  }

  /**
   * mk_sleep_ms: blocks for at least `ms` milliseconds; zero or less blocks until the next step. Messages that come
   * meanwhile wait.
   */
  sleepMs(ms: number): Result {
    const { wheel, clock } = this.#actor.runtime;
    return this.#obey("sleepMs", "a timer", wheel.sleep(this.self, whole("sleepMs", ms), clock.now()));
  }

  /**
   * mk_recv: takes the oldest message out of the mailbox, and blocks until there is one. Returns -1 for an actor
   * without a stack.
   */
  recv(): Message | -1 | Promise<Message> {
    const actor = this.#actor;
    const result = this.#obey("recv", "a message", actor.runtime.wheel.recv(this.self));
    if (typeof result !== "number") return result.then(() => actor.take());
    return result === 0 ? actor.take() : -1;
  }

  /**
   * mk_wait_fd_readable: blocks until the runtime's `ready` says that `fd` can be read, for at most `timeoutMs`
   * milliseconds; zero or less sets no limit. Returns -1 if the time runs out, and at once in a runtime without
   * `ready`.
   */
  waitFdReadable(fd: number, timeoutMs: number): Result {
    return this.#waitFd("waitFdReadable", fd, false, timeoutMs);
  }

  /** mk_wait_fd_writable: the same for writing. */
  waitFdWritable(fd: number, timeoutMs: number): Result {
    return this.#waitFd("waitFdWritable", fd, true, timeoutMs);
  }

  #waitFd(op: string, fd: number, write: boolean, timeoutMs: number): Result {
    const { ready } = this.#actor.runtime.options;
    if (!ready) return -1;
    const what = `descriptor ${fd} to be ${write ? "writable" : "readable"}`;
    return this.#wait(op, what, timeoutMs, (signal) => ready(fd, write, signal));
  }

  /**
   * Blocks until the promise has settled, for at most `timeoutMs` milliseconds; zero or less sets no limit. Returns 0,
   * even if the promise was rejected, or -1 if the time runs out. Other blocking calls can be made of this one.
   */
  wait(what: string, promise: PromiseLike<unknown>, timeoutMs = 0): Result {
    const result = this.#wait("wait", what, timeoutMs, () => promise);
    if (result === -1) Promise.resolve(promise).catch(() => {}); // else unhandled
    return result;
  }

  #wait(op: string, what: string, timeoutMs: number, begin: (signal: AbortSignal) => PromiseLike<unknown>): Result {
    const actor = this.#actor;
    const { runtime } = actor;
    const answer = runtime.wheel.wait(this.self, whole(op, timeoutMs), runtime.clock.now());
    const result = this.#obey(op, what, answer);
    if (answer === PARK) {
      const n = runtime.wheel.waits(this.self);
      const ready = () => runtime.settled(actor, n);
      actor.outside = new AbortController();
      attempt(() => begin(actor.outside!.signal)).then(ready, ready); // a rejection counts as ready [E-FD-3]
    }
    return result;
  }

  /** Carries out the wheel's answer: the one place where a handler stops in its middle. */
  #obey(op: string, what: string, answer: number): Result {
    if (answer === NOT_RUNNING) {
      throw new ActorError(
        "not-running",
        `${op} of actor ${this.self} while its handler is not running: only the handler itself may block`,
        { actor: this.self },
      );
    }
    if (answer === REFUSED) return -1;
    return answer === PARK ? this.#actor.park(what) : 0;
  }
}

/** Calls `fn` and returns its outcome as a Promise. A thenable cannot call back before the actor is parked. */
function attempt(fn: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    return Promise.resolve(fn());
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * Checks that the wheel can take a number of milliseconds. The wheel would cut off any other number: to fewer
 * milliseconds, or to zero, which as a timeout means no limit.
 */
function whole(op: string, ms: number): number {
  if (!Number.isInteger(ms) || (ms | 0) !== ms)
    throw new ActorError("bad-argument", `${op} takes a whole number of milliseconds below 2^31, got ${shown(ms)}`);
  return ms;
}
