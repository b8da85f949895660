// The one stack in a guest's memory that all its fibers use where they can have no regions: see "copy" in regions.ts.
//
// Code written for JSPI has no deliver: what it calls writes through pointers to locals before the call goes on. So there the
// frames of a call stay in their place while it waits, and the next one begins below them, as in raw JSPI. They are copied out
// when one that lies above goes on, and may grow over them; what is written to them from then on is lost.

import type { Task } from "./fiber.js";
import { WebAssembly } from "./platform.js";

const NESTED = 16384; // bytes of frames in their place, a quarter of the stack that compilers give; below that a call begins where the stack does

export class OneStack {
  /** The pointer when no fiber runs: below all that is in its place. */
  readonly rest: WebAssembly.Global;
  readonly #base: number;
  readonly #placed: Task[] = []; // that wait and whose frames are in their place, the lowest last

  constructor(
    readonly memory: WebAssembly.Memory,
    readonly pointer: WebAssembly.Global,
  ) {
    this.#base = (pointer.value as number) >>> 0;
    this.rest = new WebAssembly.Global({ value: "i32", mutable: true }, this.#base);
  }

  /** A fiber starts. Returns where its frames begin: not where the pointer rests if that is inside an import of another. */
  start(task: Task): number {
    const at = (this.pointer.value as number) >>> 0;
    const rest = (this.rest.value as number) >>> 0;
    task.alone &&= at === rest;
    const high = task.alone && this.#base - rest > NESTED ? this.#base : at;
    this.#clear(high);
    return high;
  }

  /** A fiber waits, whose frames end at task.savedAt. One of another guest has begun where the pointer rested. */
  park(task: Task): void {
    const high = task.binding.stack === this ? task.high : (this.rest.value as number) >>> 0;
    if (task.thunk.jspi && task.alone && task.savedAt < high) this.#placed.push(task);
    else this.#save(task, high);
    this.#rests();
  }

  /** A fiber goes on, if it has waited. */
  resume(task: Task): void {
    const { saved, savedAt } = task;
    if (!saved && !this.#placed.includes(task)) return;
    this.#clear(saved ? savedAt + saved.length : task.high, task);
    if (saved) new Uint8Array(this.memory.buffer).set(saved, savedAt);
    task.saved = undefined;
    task.alone = true; // whatever it began below has been left
  }

  /** A trap has ended a fiber, perhaps as it waited. */
  over(task: Task): void {
    const i = this.#placed.indexOf(task);
    if (i >= 0) this.#placed.splice(i, 1);
    this.#rests();
  }

  #clear(high: number, but?: Task): void {
    for (let task; (task = this.#placed.at(-1)) && task.savedAt < high; this.#placed.pop()) {
      if (task !== but) this.#save(task, task.high);
    }
    this.#rests();
  }

  #save(task: Task, high: number): void {
    task.saved = new Uint8Array(this.memory.buffer).slice(task.savedAt, high);
  }

  #rests(): void {
    this.rest.value = this.#placed.at(-1)?.savedAt ?? this.#base;
  }
}
