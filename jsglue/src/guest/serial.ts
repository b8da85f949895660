// The turns of calls into a guest that bears one call at a time: each begins when the one before it is over.

import { proceed } from "../turn/spawn.js";
import type { Call } from "./call.js";

/** Whose turn it is. */
export interface Turns {
  /** The call whose turn it is. */
  readonly entry: Call | undefined;
  /** Whether a call has to wait, because another one is not over; it is told to `proceed` then. */
  defers(task: Call): boolean;
  /** A call is over. */
  over(task: Call): void;
}

export class Serial implements Turns {
  entry: Call | undefined = undefined;
  #queue: Call[] = [];

  defers(task: Call): boolean {
    if (this.entry) this.#queue.push(task);
    else this.entry = task;
    return this.entry !== task;
  }

  over(task: Call): void {
    if (task !== this.entry) {
      this.#queue = this.#queue.filter((other) => other !== task);
      return;
    }
    this.entry = this.#queue.shift();
    if (this.entry) proceed(this.entry);
  }
}
