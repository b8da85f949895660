// The regions of a guest: pieces of its memory, each the shadow stack of one fiber. Package shadow, in the core,
// decides where they come from and which fibers an overflow has damaged; this file reads and writes the memory. At each
// wait and at the end, stubs and thunks check the guard at the low end of a region (package jsglue/stubs).
//
// Why: RATIONALE.md, "Why is memory grown once, and by so much?".
//
// Why: RATIONALE.md, "Why does a module that asks for its memory's size not get regions in grown memory?".
//
// Why: RATIONALE.md, "Why do calls run one after another where stacks cannot be kept apart?".

import { FiberError } from "../errors.js";
import { inspector } from "../turn/core.js";
import { SOFT } from "../turn/scheduler.js";
import { write } from "./module.js";
import type { Plan } from "./stacks.js";

/** Whose stack a region is. */
export interface Tenant {
  readonly name: string;
  /** Somebody else has written over it. */
  lose(error: FiberError): void;
}

export interface Region {
  readonly at: number; // low, as an index of groups of eight bytes
  readonly low: number; // the guard begins here
  high: number; // the shadow stack begins here and grows down
  tenant: Tenant | undefined; // now
}

// As in package shadow.
const GUARD = 64; // bytes
const STAGGER = 192;
const UNTOUCHED = new Float64Array(Int32Array.of(0x0f1be4f1, 0x0f1be4f1).buffer)[0]!; // eight bytes of a guard
const PAGE = 65536;
// States of a region.
const TOUCHED = 1;
const THROUGH = 2;
const MENDED = 4;
const LOST = 8;

/** What is told of a guest that is spoilt. */
export const SPOILT = "an overflow may have damaged the guest's data: make a new instance";

export class Regions {
  readonly #free: Region[] = [];
  readonly #all: Region[] = [];
  // The part of grown memory that no region has been made of. It lies below those that have been made of it, so what
  // overflows one of them does no harm there.
  #rest: Region = { at: 0, low: 0, high: 0, tenant: undefined };
  #eights: Float64Array;
  spoilt = false; // an overflow has damaged the guest's own data

  constructor(
    readonly source: Plan["source"],
    readonly size: number,
    readonly memory: WebAssembly.Memory,
    readonly malloc: ((size: number) => number) | undefined,
  ) {
    this.#eights = new Float64Array(memory.buffer);
    if (source === "grow" && !this.#grow()) throw noRoom(size);
  }

  /** A region for a fiber that starts. Throws a FiberError when there is no room, or when the guest is spoilt. */
  take(): Region {
    if (this.spoilt) throw new FiberError("region-overflow", SPOILT);
    const region = this.#free.pop();
    if (!region) return this.#more();
    if (!this.intact(region)) this.#guard(region); // an overflow has run through it while no fiber had it
    return region;
  }

  give(region: Region): void {
    region.tenant = undefined;
    this.#free.push(region);
  }

  /**
   * Whether the guard of a region has not been written to. All of the guard is checked: a function with one local
   * writes one word in 16 bytes, and which of the four words depends on the compiler.
   */
  intact({ at }: Pick<Region, "at">): boolean {
    const eights = at + 7 < this.#eights.length ? this.#eights : this.#view(at + 8);
    return (
      eights[at] === UNTOUCHED &&
      eights[at + 1] === UNTOUCHED &&
      eights[at + 2] === UNTOUCHED &&
      eights[at + 3] === UNTOUCHED &&
      eights[at + 4] === UNTOUCHED &&
      eights[at + 5] === UNTOUCHED &&
      eights[at + 6] === UNTOUCHED &&
      eights[at + 7] === UNTOUCHED
    );
  }

  /**
   * Repairs the guards that an overflow of a region has overwritten. Returns how far down it has reached, and the
   * regions that it has reached: all others, if it has spoilt the guest. `end` is where the stack ends now, if that is
   * known.
   */
  mend(region: Region, end: number): [low: number, lost: Region[]] {
    const core = inspector();
    const states = this.#all.flatMap(({ at, low, high }) => {
      const eights = this.#view(at + 8);
      const through = eights[at] !== UNTOUCHED || eights[at + 1] !== UNTOUCHED;
      return [low, high, through ? TOUCHED | THROUGH : this.intact({ at }) ? 0 : TOUCHED];
    });
    const at = write(core, new Uint8Array(Uint32Array.from(states).buffer));
    const index = this.#all.indexOf(region);
    const low = core.mend(this.#all.length, index, Math.min(end, 0xffff_ffff)) >>> 0;
    const after = new Uint32Array(core.memory.buffer, at, states.length);
    this.spoilt ||= after[3 * index + 2]! >= LOST;
    const lost = this.#all.filter((each, i) => {
      const state = after[3 * i + 2]!;
      if (state & MENDED) this.#guard(each);
      return each !== region && (this.spoilt || state & LOST);
    });
    return [low, lost];
  }

  /** How many bytes of a region have ever been written to, from its high end. */
  used({ low, high }: Region): number {
    const words = new Int32Array(this.memory.buffer);
    let i = (low + GUARD) >>> 2;
    while (i < high >>> 2 && words[i] === 0) i++;
    return high - 4 * i;
  }

  #guard({ at }: Region): void {
    this.#view(at + GUARD / 8).fill(UNTOUCHED, at, at + GUARD / 8);
  }

  /**
   * The memory in groups of eight bytes, at least as far as `end`. When memory grows, an earlier view gets length zero
   * or, if the memory is shared, still ends where it did; asking the memory itself is slow.
   */
  #view(end: number): Float64Array {
    if (this.#eights.length < end) this.#eights = new Float64Array(this.memory.buffer);
    return this.#eights;
  }

  #more(): Region {
    if (this.source === "grow") {
      if (this.#rest.high - this.#rest.low < this.size && !this.#grow()) throw noRoom(this.size);
      const rest = this.#rest;
      const low = rest.high - this.size;
      rest.high = low - STAGGER - GUARD < rest.low ? 0 : low - STAGGER;
      return this.#add(low);
    }
    const at = this.malloc!(this.size + 16) >>> 0;
    // Without room some allocators return 0, others -1. An address outside of the memory counts as no room, too.
    if (at === 0 || at + this.size + 16 > this.memory.buffer.byteLength) throw noRoom(this.size);
    return this.#add(((at + 15) & ~15) >>> 0);
  }

  /** Grows memory by as many regions as fibers are started by default, or fewer; false if there is not room for one. */
  #grow(): boolean {
    for (let count = SOFT; count >= 1; count >>= 1) {
      try {
        const pages = Math.ceil((count * (this.size + STAGGER)) / PAGE);
        const low = this.memory.grow(pages) * PAGE;
        this.#rest = this.#add(low, low + pages * PAGE - STAGGER);
        return true;
      } catch {
        // Past the memory's maximum, or what the engine has; try fewer.
      }
    }
    return false;
  }

  #add(low: number, high = low + this.size): Region {
    const region = { at: low >>> 3, low, high, tenant: undefined };
    this.#all.push(region);
    this.#guard(region);
    return region;
  }
}

function noRoom(size: number): FiberError {
  return new FiberError(
    "no-memory",
    `the guest's memory has no room for one more shadow stack of ${size} bytes; fewer fibers at once, a ` +
      `smaller shadowStack.size or shadowStack: { regions: "serial" } need less`,
  );
}
