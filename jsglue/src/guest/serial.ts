// The turns of calls into a guest that bears one call at a time: each begins when the one before it is over.

import { proceed } from "../turn/spawn.js";
import type { Call } from "./call.js";

export class Serial {
  /** The call whose turn it is. */
  entry: Call | undefined = undefined;
  #queue: Call[] = [];

  /** Whether a call has to wait, because another one is not over; it is told to `proceed` then. */
  defers(call: Call): boolean {
    if (this.entry) this.#queue.push(call);
    else this.entry = call;
    return this.entry !== call;
  }

  /** A call is over. */
  over(call: Call): void {
    if (call !== this.entry) {
      this.#queue = this.#queue.filter((other) => other !== call);
      return;
    }
    this.entry = this.#queue.shift();
    if (this.entry) proceed(this.entry);
  }
}
