// The one stack in a guest's memory: all its fibers use it if they can have no regions (see "copy" in regions.ts), and
// a fiber of another guest has its frames there before anybody knows that it has any (see shadowstack.ts).
//
// Code written for JSPI has no deliver: its imports write through pointers to locals before the call goes on. So there
// the frames of a call stay in their place while it waits, and the next call begins below them, as in raw JSPI. When a
// call whose frames lie above goes on, it may grow over them: so they are copied before that, and put back when that
// call waits again or has ended. If it waits with its frames over theirs, they stay copied out. What is written there
// while no fiber runs may be meant for any call that has a frame there, as in raw JSPI: so it goes to the copies, too.

import type { Frames } from "./shadowstack.js";

// bytes of frames in their place, a quarter of the stack that compilers give; if there are more, a call begins where
// the stack begins
const NESTED = 16384;

export class OneStack {
  readonly #placed: Frames[] = []; // the frames that are in their place, the lowest last
  #runner: Frames | undefined; // the frames of a fiber that may grow over other frames:
  readonly #below: Frames[] = []; // those other frames, the lowest first
  #copy = new Uint8Array(0); // of all of them
  #copyAt = 0; // where they lie
  #out: Frames[] = []; // frames that would be in their place if no others lay there
  #quiet = new Uint8Array(0); // the memory from the lowest of them on, as it was when a fiber waited or ended last
  #quietAt = 0; // where that lies

  constructor(
    readonly memory: WebAssembly.Memory,
    readonly base: number,
  ) {}

  /** Where the frames end that are in their place, or would be. */
  get low(): number {
    return this.#out.reduce((low, each) => Math.min(low, each.low), this.#placedLow);
  }

  get #placedLow(): number {
    return this.#placed.at(-1)?.low ?? this.base;
  }

  get #bytes(): Uint8Array {
    return new Uint8Array(this.memory.buffer);
  }

  /** So many bytes of frames are in their place that the next fiber begins where the stack begins. */
  get deep(): boolean {
    return this.base - this.low > NESTED;
  }

  /** A fiber begins where the stack begins. */
  begin(frames: Frames): void {
    this.#left(this.#runner);
    this.#clear(frames);
  }

  /** A fiber waits. */
  park(frames: Frames): void {
    const { low, high } = frames;
    if (frames.stays && frames.alone && low < high) this.#placed.push(frames);
    else frames.saved = this.#bytes.slice(low, high);
    this.#left(frames);
  }

  /** A fiber goes on. */
  resume(frames: Frames): void {
    this.#left(this.#runner); // a fiber that has ended without a call of `over`
    this.#clear(frames);
    if (frames.saved) this.#bytes.set(frames.saved, frames.low);
    this.#forget(frames);
    frames.alone = true; // whatever it began below has been left
  }

  /** A fiber has ended, perhaps by a trap while it waited. */
  over(frames: Frames): void {
    for (const list of [this.#placed, this.#below]) {
      const i = list.indexOf(frames);
      if (i >= 0) list.splice(i, 1);
    }
    this.#forget(frames);
    this.#left(frames);
  }

  #forget(frames: Frames): void {
    frames.saved = undefined;
    this.#out = this.#out.filter((each) => each !== frames);
  }

  /** A fiber waits again, or has ended. Puts back the frames that it may have grown over, except where its own lie. */
  #left(frames: Frames | undefined): void {
    if (!this.#runner || frames !== this.#runner) return;
    this.#runner = undefined;
    const low = this.#placedLow;
    for (let each; (each = this.#below.pop());) {
      const copy = this.#copy.subarray(each.low - this.#copyAt, each.high - this.#copyAt);
      if (each.high > low) {
        each.saved = copy.slice();
        this.#out.push(each);
      } else {
        this.#bytes.set(copy, each.low);
        this.#placed.push(each);
      }
    }
    if (this.#out.length > 0) this.#quiet = this.#bytes.slice((this.#quietAt = this.low), this.base);
  }

  /** Copies the frames that a fiber is about to grow over. */
  #clear(frames: Frames): void {
    if (this.#out.length > 0) this.#hear();
    for (let each; (each = this.#placed.at(-1)) && each.low < frames.high; this.#placed.pop())
      if (each !== frames) this.#below.push(each);
    if (this.#below.length + this.#out.length > 0) this.#runner = frames;
    if (this.#below.length > 0) {
      this.#copyAt = this.#below[0]!.low;
      this.#copy = this.#bytes.slice(this.#copyAt, this.#below.at(-1)!.high);
    }
  }

  /** Writes to the copies what has been written to memory since they were made. */
  #hear(): void {
    const now = this.#bytes;
    this.#quiet.forEach((byte, i) => {
      const at = this.#quietAt + i;
      if (now[at] === byte) return;
      for (const { low, high, saved } of this.#out) if (low <= at && at < high) saved![at - low] = now[at]!;
    });
  }
}
