// The guest's side of its fibers: events in its memory, as include/fiberfill.h lays them out, and functions in its
// table. Whatever the guest says is checked: an address that is out of bounds and a function of another type are
// refused.

import type { Binding } from "../guest/binding.js";
import { isA } from "../errors.js";
import type { Glue } from "./load.js";

/** An event: its size, and where its fields lie. */
export const SIZE = 88;
const TAG = 4;
const TYPES = 8;
const FIBER = 12;
const REF = 16;
const VALUES = 24;

/** The kinds of functions to which an index of the guest's table can refer; see fiber.wat. */
export const BODY = 1;
export const RAISE = 2;
export const ADMITS = 3;
const KINDS = ["", "ff_body", "ff_raise", "ff_admits"];

/** Addresses, tags, and lists of types are i32, so they may be negative here. */
export abstract class GuestSide {
  abstract readonly glue: Glue;
  #memory = (): Uint8Array => this.refuse("a start function has called it");
  #functions!: WebAssembly.Table;
  #kind = (_i: number): number => this.#memory().length;
  /** Not empty: a function of the guest runs that must not use the system; this names it. */
  protected inside = "";
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));

  /** Ends the running chain by a trap. */
  abstract refuse(why: string): never;

  /** What is called now in the guest has its frames below those of the plain call that is under way, if one is. */
  protected abstract below(): void;

  protected found(binding: Binding, functions: WebAssembly.Table, kind: (i: number) => number): void {
    this.#memory = () => binding.bytes();
    this.#functions = functions;
    this.#kind = kind;
  }

  // --- functions

  /** Checks that an index of the table holds a function of this kind; returns false if it holds nothing. */
  function(i: number, kind: number): boolean {
    const is = this.#kind(i);
    if (is !== 0 && is !== kind) this.refuse(`function ${i >>> 0} is no ${KINDS[kind]}`);
    return is !== 0;
  }

  /** The same for a function that must be there. */
  need(i: number, kind: number): void {
    if (!this.function(i, kind)) this.refuse(`there is no ${KINDS[kind]} at ${i >>> 0} in the guest's table`);
  }

  /** Calls a function that must neither use the system nor wait; `what` says in words what it is. */
  call(what: string, i: number, ...args: number[]): number {
    const inside = this.inside;
    this.inside = what;
    this.below();
    try {
      return this.glue.inJavaScript(() => (this.#functions.get(i >>> 0) as (...args: number[]) => number)(...args));
    } catch (error) {
      if (isA(error, this.glue.FiberError) && error.code === "cannot-suspend") this.refuse(`${what} must not wait`);
      throw error;
    } finally {
      this.inside = inside;
    }
  }

  /** Returns what a function of the guest throws; an operation calls it to get an exception. */
  raised(operation: string, fn: number, env: number): unknown {
    this.need(fn, RAISE);
    const what = `the function that throws for ${operation}`;
    try {
      this.call(what, fn, env);
    } catch (error) {
      if (isA(error, WebAssembly.RuntimeError)) throw error; // it trapped
      return error;
    }
    this.refuse(`function ${fn >>> 0} has thrown nothing`);
  }

  // --- memory

  /** The guest's memory. Refuses the operation unless there are so many bytes from an address on. */
  at(address: number, size: number): DataView {
    if (this.#bytes.length === 0 || (address >>> 0) + size > this.#bytes.length) {
      this.#bytes = this.#memory();
      this.#view = new DataView(this.#bytes.buffer);
      if ((address >>> 0) + size > this.#bytes.length)
        this.refuse(`address ${address >>> 0} is out of the memory's bounds`);
    }
    return this.#view;
  }

  /** A copy of so many bytes. */
  bytesAt(address: number, size: number): Uint8Array {
    this.at(address, size);
    return this.#bytes.slice(address >>> 0, (address >>> 0) + size);
  }

  tag(e: number): number {
    return this.at(e, SIZE).getInt32((e >>> 0) + TAG, true);
  }

  types(e: number): number {
    return this.at(e, SIZE).getInt32((e >>> 0) + TYPES, true);
  }

  /** A half of the single-use reference in an event: 0 the fiber, 1 the number. */
  ref(e: number, half: number): number {
    return this.at(e, SIZE).getInt32((e >>> 0) + REF + 4 * half, true);
  }

  setRef(e: number, fiber: number, number: number): void {
    const view = this.at(e, SIZE);
    view.setInt32((e >>> 0) + REF, fiber, true);
    view.setInt32((e >>> 0) + REF + 4, number, true);
  }

  /** Writes what arrives, except the values, from words that lie in the order of an event's fields. */
  setHead(e: number, words: Int32Array, from: number): void {
    const view = this.at(e, SIZE);
    e >>>= 0;
    for (let i = 0; i < VALUES / 4; i++) {
      // Only operations that make a fiber write this field.
      if (4 * i !== FIBER || words[from + i] !== 0) view.setInt32(e + 4 * i, words[from + i]!, true);
    }
  }

  /** Makes an event of zeros. */
  clear(e: number): void {
    this.at(e, SIZE);
    this.#bytes.fill(0, e >>> 0, (e >>> 0) + SIZE);
  }

  /** Copies values of these types from one event to another. The first of them may have been supplied before. */
  copyValues(to: number, from: number, types: number, bound: Uint8Array | undefined): void {
    this.at(from, SIZE);
    const view = this.at(to, SIZE);
    const at = (to >>> 0) + VALUES;
    const values = (from >>> 0) + VALUES;
    const before = bound?.length ?? 0;
    const size = 8 * count(types) - before;
    if (size === 8) {
      // Not as a number: NaNs would not keep their bits. One value is the most frequent, and this is faster.
      const low = view.getInt32(values, true);
      const high = view.getInt32(values + 4, true);
      view.setInt32(at + before, low, true);
      view.setInt32(at + before + 4, high, true);
    } else if (size > 0) this.#bytes.copyWithin(at + before, values, values + size);
    if (bound) this.#bytes.set(bound, at);
  }

  /** The values in an event, after those that are bound already. */
  bound(e: number, before: Uint8Array | undefined): Uint8Array {
    const more = this.bytesAt((e >>> 0) + VALUES, 8 * count(this.types(e)));
    if (!before) return more;
    const bytes = new Uint8Array(before.length + more.length);
    bytes.set(before);
    bytes.set(more, before.length);
    return bytes;
  }
}

/** The number of types in a list of four bits each. */
function count(types: number): number {
  return 8 - (Math.clz32(types) >>> 2);
}
