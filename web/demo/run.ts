// One run: a number of fibers, each of which fetches one item.

import type { Call, Guest } from "./guests.js";
import { valueOf } from "./items.js";
import { CANCELLED, DONE, FAILED, Recording, isLive } from "./recording.js";
import { Wire } from "./wire.js";

/**
 * How many fibers to start in one task. Beginning a request takes Chromium's main thread half a millisecond, and an
 * answer waits until the page is idle for a moment: of 1,000 requests begun without a pause the first answer would be
 * seen when nearly all have begun, after 0.4 to 1.5 s, with fiberfill and without. So it is seen after 50 ms.
 */
const AT_A_TIME = 16;

/** What the visitor has chosen. */
export interface Settings {
  guest: string;
  fibers: number;
  latency: number; // mean, in milliseconds
  failure: number; // percent
}

let runs = 0;

export class Run {
  readonly record: Recording;
  readonly wire: Wire;
  readonly start = performance.now();
  /** How many fibers returned the value that the server has for their id. */
  right = 0;
  /** How many the server has refused. */
  refused = 0;
  /** When the last fiber ended, in performance.now(); undefined until then. */
  end: number | undefined;
  /** Resolves when all fibers have ended, in whatever way. */
  readonly ended: Promise<void>;
  /** Resolves after that, when all answers have been measured. */
  readonly measured: Promise<void>;
  readonly #calls: Call[] = [];
  readonly #number: number;
  #cancelled = false;

  constructor(
    readonly guest: Guest,
    readonly settings: Settings,
    readonly folder: string, // of the item's address
  ) {
    this.wire = new Wire(`&run=${(this.#number = ++runs)}`);
    this.record = new Recording(settings.fibers);
    const { counts } = this.record;
    this.ended = this.#run();
    this.measured = this.ended.then(() => this.wire.all(guest.answered ?? counts[DONE]! + counts[FAILED]!));
  }

  async #run(): Promise<void> {
    const { record, guest } = this;
    const { fibers, latency, failure } = this.settings;
    const stop = guest.observe((lane, state, time) => record.note(lane, state, time));
    const results: Promise<void>[] = [];
    const query = `ms=${latency}&fail=${failure}&seed=1&run=${this.#number}`;
    for (let lane = 0; lane < fibers && !this.#cancelled; lane++) {
      const call = guest.start(lane, `${this.folder}item?id=${lane}&${query}`);
      this.#calls.push(call);
      results.push(
        call.result.then(
          (value) => {
            if (value === valueOf(lane)) this.right++;
          },
          (error: unknown) => {
            if (/HTTP \d|status \d/.test(String(error))) this.refused++; // the record shows all failures
          },
        ),
      );
      if (lane % AT_A_TIME === AT_A_TIME - 1) await new Promise((resolve) => setTimeout(resolve));
    }
    await Promise.all(results);
    this.end = performance.now();
    stop();
  }

  /** Cancels one fiber, if it has not ended, or all. */
  cancel(lane?: number): void {
    const { now } = this.record;
    if (lane !== undefined) {
      if (isLive(now[lane]!)) this.#calls[lane]!.cancel();
      return;
    }
    this.#cancelled = true;
    this.#calls.forEach((call, i) => isLive(now[i]!) && call.cancel());
    for (let i = this.#calls.length; i < now.length; i++) this.record.note(i, CANCELLED, performance.now());
  }

  /** Must be called before the next run. */
  close(): void {
    this.wire.close();
  }

  /** How long the run took, or has taken so far, in milliseconds. */
  get elapsed(): number {
    return (this.end ?? performance.now()) - this.start;
  }
}
