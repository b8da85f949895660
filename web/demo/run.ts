// One run: a number of fibers, each of which fetches one item.

import type { Call, Guest } from "./guests.js";
import { CANCELLED, DONE, FAILED, Recording, isLive } from "./recording.js";
import { Wire } from "./wire.js";

/** How long to start fibers in one go, in milliseconds. Ten thousand at once would cost several frames. */
const SLICE = 8;

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
  /** When the last fiber ended, in performance.now(); undefined until then. */
  end: number | undefined;
  /** Resolves when all fibers have ended, in whatever way. */
  readonly ended: Promise<void>;
  /** Resolves after that, when all answers have been measured. */
  readonly measured: Promise<void>;
  readonly #calls: Call[] = [];
  #cancelled = false;

  constructor(
    readonly guest: Guest,
    readonly settings: Settings,
  ) {
    this.record = new Recording(settings.fibers);
    const { counts } = this.record;
    this.ended = this.#run();
    this.measured = this.ended.then(() => this.wire.all(counts[DONE]! + counts[FAILED]!));
  }

  async #run(): Promise<void> {
    const { record, guest } = this;
    const { fibers, latency, failure } = this.settings;
    const stop = guest.observe((lane, state, time) => record.note(lane, state, time));
    const results: Promise<void>[] = [];
    let pause = performance.now() + SLICE;
    for (let lane = 0; lane < fibers && !this.#cancelled; lane++) {
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
      if (performance.now() > pause) {
        await nextTask();
        pause = performance.now() + SLICE;
      }
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

/** Lets the page draw and handle events. */
function nextTask(): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(undefined);
  }).finally(() => port1.close());
}

/** The server's rule for the value of an item. It is exact, because the product stays below 2 to the power of 53. */
function valueOf(id: number): number {
  return (id * 2654435761 + 12345) % 1000003;
}
