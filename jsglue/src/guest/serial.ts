// The turns of calls into a guest that allows one call at a time: each call begins when the call before it is over.
//
// A call may wait for another call of the same guest, by way of JavaScript or of other guests. The other call begins
// inside it, as on raw JSPI: its frames go below those of the waiting call, which goes on when the inner call is over.
// If the outer call went on first, the inner call would lose its frames: so the inner call is ended.

import { FiberError } from "../errors.js";
import { proceed } from "../turn/spawn.js";
import type { Call } from "./call.js";

const byMemory = new WeakMap<object, Serial>();

/** The turns of all guests whose stacks lie in this memory, perhaps in the same place, though their pointers differ. */
export function turnsIn(memory: object): Serial {
  if (!byMemory.has(memory)) byMemory.set(memory, new Serial());
  return byMemory.get(memory)!;
}

export class Serial {
  /** The call whose turn it is. */
  entry: Call | undefined = undefined;
  #queue: Call[] = [];
  #inside: Serial | undefined; // the turns of calls that begin inside entry

  /** The innermost call whose turn it is. */
  get innermost(): Call | undefined {
    return this.#inside?.entry ? this.#inside.innermost : this.entry;
  }

  /** Whether a call has to wait, because another one is not over; `proceed` is called with it when its turn comes. */
  defers(call: Call): boolean {
    call.turns = this;
    if (this.entry) this.#queue.push(call);
    else this.entry = call;
    return this.entry !== call;
  }

  /** Begins a call, which waits for its turn, inside the call whose turn it is, which waits for it. */
  nest(call: Call): void {
    call.turns!.#drop(call);
    this.#inside ??= new Serial();
    if (!this.#inside.defers(call)) proceed(call);
  }

  /** The call whose turn it is goes on. */
  goesOn(): void {
    for (let { name } = this.entry!, level = this.#inside; level?.entry; level = level.#inside) {
      const inner = level.entry;
      if (inner.state === "queued" || inner.death) continue;
      const text =
        `fiber ${inner.name} was called while fiber ${name} waited, and ${name} goes on before it is over, ` +
        "on the same stack. Let the import wait for what it calls, or call it outside of imports";
      inner.kill(new FiberError("deadlock", text, { fiber: inner.name }));
    }
  }

  /** A call is over. */
  over(call: Call): void {
    if (call !== this.entry) return this.#drop(call);
    const inside = this.#inside;
    this.entry = this.#inside = undefined;
    // The calls that were to begin inside it come first.
    if (inside) {
      for (const each of [inside.entry, ...inside.#queue]) if (each) each.turns = this;
      this.#queue.unshift(...inside.#queue);
      this.#inside = inside.#inside;
      this.entry = inside.entry;
      if (this.entry) return;
    }
    this.entry = this.#queue.shift();
    if (this.entry) proceed(this.entry);
  }

  #drop(call: Call): void {
    this.#queue = this.#queue.filter((other) => other !== call);
  }
}
