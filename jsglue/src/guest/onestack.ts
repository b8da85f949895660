// The one stack in a guest's memory that all its fibers use where they can have no regions: see "copy" in regions.ts.
//
// Code written for JSPI has no deliver: what it calls writes through pointers to locals before the call goes on. So
// there the frames of a call stay in their place while it waits, and the next one begins below them, as in raw JSPI.
// One that lies above may grow over them when it goes on: so they are copied before, and put back when it waits again
// or has ended. What is written to them meanwhile is lost; and where it waits with its frames over theirs they stay
// copied out, and that goes on being so.

import type { Call } from "./call.js";
import { WebAssembly } from "../platform.js";

const NESTED = 16384; // bytes of frames in their place, a quarter of the stack that compilers give; below that a call begins where the stack does

const nothing = new Uint8Array(0);

/** What a fiber that waits has on the stack. */
interface Frames {
  readonly task: Call;
  readonly low: number;
  readonly high: number;
}

export class OneStack {
  /** The pointer when no fiber runs: below all that is in its place. */
  readonly rest: WebAssembly.Global;
  readonly #base: number;
  readonly #placed: Frames[] = []; // that are in their place, the lowest last
  #runner: Call | undefined; // a fiber that may grow over others' frames:
  readonly #below: Frames[] = []; // the lowest first
  #copy = new Uint8Array(0); // of all of them
  #copyAt = 0; // where they lie

  constructor(
    readonly memory: WebAssembly.Memory,
    readonly pointer: WebAssembly.Global,
  ) {
    this.#base = (pointer.value as number) >>> 0;
    this.rest = new WebAssembly.Global({ value: "i32", mutable: true }, this.#base);
  }

  /**
   * A fiber starts. Returns where its frames begin: not where the pointer rests if that is inside an import of another.
   */
  start(task: Call): number {
    const at = (this.pointer.value as number) >>> 0;
    const rest = (this.rest.value as number) >>> 0;
    task.alone &&= at === rest;
    if (!task.alone || this.#base - rest <= NESTED) return at;
    this.#left(this.#runner);
    this.#clear(this.#base, task);
    return this.#base;
  }

  /** A fiber waits, whose frames end at task.savedAt. One of another guest has begun where the pointer rested. */
  park(task: Call): void {
    const low = task.savedAt;
    const high = task.binding.stack === this ? task.high : (this.rest.value as number) >>> 0;
    if (task.thunk.jspi && task.alone && low < high) this.#placed.push({ task, low, high });
    else task.saved = new Uint8Array(this.memory.buffer).slice(low, high);
    this.#left(task);
    this.#rests();
  }

  /** A fiber goes on, if it has waited. */
  resume(task: Call): void {
    if (!this.off(task)) return; // its import has thrown at once
    this.#left(this.#runner); // one of another guest: its end has not been heard of here
    const { saved, savedAt } = task;
    this.#clear(saved ? savedAt + saved.length : this.#placed.find((frames) => frames.task === task)!.high, task);
    if (saved) new Uint8Array(this.memory.buffer).set(saved, savedAt);
    task.saved = undefined;
    task.alone = true; // whatever it began below has been left
  }

  /**
   * A fiber has returned or thrown, which is told some microtasks later: what is written in them to frames below is not
   * lost.
   */
  ended(task: Call): void {
    this.#left(task);
    task.saved = nothing;
  }

  /**
   * Whether a fiber has nothing in its place that runs: it waits, also when the scheduler has named it, or has ended.
   */
  off(task: Call): boolean {
    return task.saved !== undefined || [...this.#placed, ...this.#below].some((frames) => frames.task === task);
  }

  /** A trap has ended a fiber, perhaps as it waited. */
  over(task: Call): void {
    for (const list of [this.#placed, this.#below]) {
      const i = list.findIndex((frames) => frames.task === task);
      if (i >= 0) list.splice(i, 1);
    }
    this.#left(task);
    this.#rests();
  }

  /** A fiber waits again, or has ended. The frames that it may have grown over are put back where its own are not. */
  #left(task: Call | undefined): void {
    if (!this.#runner || task !== this.#runner) return;
    this.#runner = undefined;
    const bytes = new Uint8Array(this.memory.buffer);
    const low = this.#placed.at(-1)?.low ?? this.#base;
    for (let each; (each = this.#below.pop());) {
      const copy = this.#copy.subarray(each.low - this.#copyAt, each.high - this.#copyAt);
      if (each.high > low) each.task.saved = copy.slice();
      else {
        bytes.set(copy, each.low);
        this.#placed.push(each);
      }
    }
    this.#rests();
  }

  /** Copies the frames that a fiber is about to grow over. */
  #clear(high: number, task: Call): void {
    for (let each; (each = this.#placed.at(-1)) && each.low < high; this.#placed.pop())
      if (each.task !== task) this.#below.push(each);
    if (this.#below.length > 0) {
      this.#runner = task;
      this.#copyAt = this.#below[0]!.low;
      this.#copy = new Uint8Array(this.memory.buffer).slice(this.#copyAt, this.#below.at(-1)!.high);
    }
    this.#rests();
  }

  #rests(): void {
    this.rest.value = this.#placed.at(-1)?.low ?? this.#base;
  }
}
