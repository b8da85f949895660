// One run: so many fibers, each of which fetches one item.

import type { Call, Guest } from "./guests.js";
import { DONE, FAILED, Recording, isLive } from "./recording.js";
import { Wire } from "./wire.js";

/** What the visitor has chosen. */
export interface Settings {
  guest: string;
  fibers: number;
  latency: number; // mean, in milliseconds
  failure: number; // percent
}

export class Run {
  readonly record: Recording;
  readonly wire = new Wire();
  readonly start = performance.now();
  /** How many fibers returned the value that the server has for their id. */
  right = 0;
  /** When the last fiber ended, in performance.now(); undefined before. */
  end: number | undefined;
  /** Resolves when all fibers have ended, however. */
  readonly ended: Promise<void>;
  /** Resolves after that, when all answers are measured. */
  readonly measured: Promise<void>;
  readonly #calls: Call[] = [];

  constructor(guest: Guest, readonly settings: Settings) {
    const { fibers, latency, failure } = settings;
    const record = (this.record = new Recording(fibers));
    const stop = guest.observe((lane, state, time) => record.note(lane, state, time));
    const results: Promise<void>[] = [];
    for (let lane = 0; lane < fibers; lane++) {
      const call = guest.start(lane, `/item?id=${lane}&ms=${latency}&fail=${failure}&seed=1`);
      this.#calls.push(call);
      results.push(
        call.result.then(
          (value) => {
            if (value === valueOf(lane)) this.right++;
          },
          () => {}, // the record shows it
        ),
      );
    }
    this.ended = Promise.all(results).then(() => {
      this.end = performance.now();
      stop();
    });
    this.measured = this.ended.then(() => this.wire.all(record.counts[DONE]! + record.counts[FAILED]!));
  }

  /** Cancels one fiber, or all, that have not ended. */
  cancel(lane?: number): void {
    const { now } = this.record;
    if (lane === undefined) this.#calls.forEach((call, i) => isLive(now[i]!) && call.cancel());
    else if (isLive(now[lane]!)) this.#calls[lane]!.cancel();
  }

  /** To be called before the next run. */
  close(): void {
    this.wire.close();
  }

  /** The time the run took, or has taken so far, in milliseconds. */
  get elapsed(): number {
    return (this.end ?? performance.now()) - this.start;
  }
}

/** The server's rule for the value of an item; exact, because the product stays below 2 to the power of 53. */
function valueOf(id: number): number {
  return (id * 2654435761 + 12345) % 1000003;
}
