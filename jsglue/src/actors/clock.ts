// What a runtime knows of time.

import { later } from "../turn/budget.js";

export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Resolves when so many milliseconds have passed, which may be Infinity, or when `woken` has. */
  sleep(ms: number, woken: Promise<void>): Promise<void>;
  /** How often to look, in milliseconds, while something outside may become ready; -1: `woken` tells. */
  readonly poll: number;
}

/** A clock that begins at zero and goes by itself. */
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

/** A clock that stands still unless somebody sleeps by it, which takes a turn of the event loop. It begins at zero. */
export class VirtualClock implements Clock {
  readonly poll = 1;
  #now = 0;

  now(): number {
    return this.#now;
  }

  /** Puts the clock forward. */
  pass(ms: number): void {
    this.#now += Math.max(0, ms);
  }

  async sleep(ms: number): Promise<void> {
    await turn();
    this.pass(ms);
  }
}

/** Lets the event loop do everything else. */
export function turn(): Promise<void> {
  return new Promise(later);
}
