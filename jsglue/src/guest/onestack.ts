// The one stack in a guest's memory: what all its fibers use where they can have no regions (see "copy" in regions.ts),
// and where a fiber of another guest has its frames before anybody knows that it has any (see shadowstack.ts).
//
// Code written for JSPI has no deliver: what it calls writes through pointers to locals before the call goes on. So
// there the frames of a call stay in their place while it waits, and the next one begins below them, as in raw JSPI.
// One that lies above may grow over them when it goes on: so they are copied before, and put back when it waits again
// or has ended. What is written to them meanwhile is lost; and where it waits with its frames over theirs they stay
// copied out, and that goes on being so.

import type { Frames } from "./shadowstack.js";

// bytes of frames in their place, a quarter of the stack that compilers give; below that a call begins where the stack
// does
const NESTED = 16384;

export class OneStack {
  readonly #placed: Frames[] = []; // that are in their place, the lowest last
  #runner: Frames | undefined; // those of a fiber that may grow over others':
  readonly #below: Frames[] = []; // the lowest first
  #copy = new Uint8Array(0); // of all of them
  #copyAt = 0; // where they lie

  constructor(
    readonly memory: WebAssembly.Memory,
    readonly base: number,
  ) {}

  /** Where what is in its place ends. */
  get low(): number {
    return this.#placed.at(-1)?.low ?? this.base;
  }

  /** So much is in its place that a fiber begins where the stack does. */
  get deep(): boolean {
    return this.base - this.low > NESTED;
  }

  /** A fiber begins where the stack does. */
  begin(frames: Frames): void {
    this.#left(this.#runner);
    this.#clear(frames);
  }

  /** A fiber waits. */
  park(frames: Frames): void {
    const { low, high } = frames;
    if (frames.stays && frames.alone && low < high) this.#placed.push(frames);
    else frames.saved = new Uint8Array(this.memory.buffer).slice(low, high);
    this.#left(frames);
  }

  /** A fiber goes on. */
  resume(frames: Frames): void {
    this.#left(this.#runner); // one whose end has not been heard of
    this.#clear(frames);
    if (frames.saved) new Uint8Array(this.memory.buffer).set(frames.saved, frames.low);
    frames.saved = undefined;
    frames.alone = true; // whatever it began below has been left
  }

  /** A fiber has ended, perhaps by a trap as it waited. */
  over(frames: Frames): void {
    for (const list of [this.#placed, this.#below]) {
      const i = list.indexOf(frames);
      if (i >= 0) list.splice(i, 1);
    }
    frames.saved = undefined;
    this.#left(frames);
  }

  /** A fiber waits again, or has ended. The frames that it may have grown over are put back where its own are not. */
  #left(frames: Frames | undefined): void {
    if (!this.#runner || frames !== this.#runner) return;
    this.#runner = undefined;
    const bytes = new Uint8Array(this.memory.buffer);
    const { low } = this;
    for (let each; (each = this.#below.pop());) {
      const copy = this.#copy.subarray(each.low - this.#copyAt, each.high - this.#copyAt);
      if (each.high > low) each.saved = copy.slice();
      else {
        bytes.set(copy, each.low);
        this.#placed.push(each);
      }
    }
  }

  /** Copies the frames that a fiber is about to grow over. */
  #clear(frames: Frames): void {
    for (let each; (each = this.#placed.at(-1)) && each.low < frames.high; this.#placed.pop())
      if (each !== frames) this.#below.push(each);
    if (this.#below.length > 0) {
      this.#runner = frames;
      this.#copyAt = this.#below[0]!.low;
      this.#copy = new Uint8Array(this.memory.buffer).slice(this.#copyAt, this.#below.at(-1)!.high);
    }
  }
}
