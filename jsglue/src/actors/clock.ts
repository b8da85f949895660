// A runtime's clock.

import { later } from "../turn/budget.js";

/** What tells a {@link Runtime} the time: the real one, or a test's. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. Never goes back. */
  now(): number;
  /** Resolves after `ms` milliseconds, which may be Infinity, or when `woken` resolves. */
  sleep(ms: number, woken: Promise<void>): Promise<void>;
  /** How often to poll, in milliseconds, while something outside may become ready; -1: never, as `woken` tells. */
  readonly poll: number;
}

/** A clock that starts at zero and runs by itself. */
export function realClock(): Clock {
  const start = performance.now();
  return {
    poll: -1,
    now: () => performance.now() - start,
    sleep(ms, woken) {
      return new Promise((resolve) => {
        const timer = ms < 2 ** 31 ? setTimeout(resolve, ms) : undefined;
        void woken.then(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}

/** A clock that starts at zero and advances only by `sleep`, which takes a turn of the event loop, and by `pass`. */
export class VirtualClock implements Clock {
  /** @internal */
  static get name(): string {
    return "VirtualClock";
  }

  /** While something outside may become ready, the runtime asks for it after each millisecond of this clock. */
  readonly poll = 1;
  #now = 0;

  /** Milliseconds slept and passed since it was made. */
  now(): number {
    return this.#now;
  }

  /** Advances the clock. */
  pass(ms: number): void {
    this.#now += Math.max(0, ms);
  }

  /** Advances the clock by `ms` milliseconds and resolves after one turn of the event loop. */
  async sleep(ms: number): Promise<void> {
    await turn();
    this.pass(ms);
  }
}

/** Resolves when the event loop has done everything else. */
export function turn(): Promise<void> {
  return new Promise(later);
}
