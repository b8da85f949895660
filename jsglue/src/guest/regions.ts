// Every fiber has its own shadow stack. Compilers keep locals whose address is taken on a stack in linear memory; two
// suspended calls that share it overwrite each other. A region is the piece of memory that one fiber uses for it. Where
// regions come from, in this order:
//
//   allocator   the guest exports malloc and free, and does not check that its
//               pointer stays within its own stack
//   grow        memory is grown, once, when the instance is made; only where
//               nothing in the module grows memory itself, because an allocator
//               that finds memory grown behind its back hands that part out
//   copy        there are no regions: all fibers use the guest's own stack, and
//               the used part is copied out when one waits and back when it goes
//               on. A pointer to such a local must not be used by anybody else
//               while the fiber waits; an import that writes through one does so
//               in its deliver function (suspending.ts).
//
// At the low end of a region lies a guard zone. Nobody can stop a guest from writing below its region, but the guard
// tells afterwards that it has: at each wait and at the end stubs and thunks look at it (package jsglue/stubs). At a
// wait they look at the stack pointer, too: a large frame may reach across the guard.
// Why: RATIONALE.md, "Why is memory grown once, and by so much?".
// Why: RATIONALE.md, "Why does a module that asks for its memory's size not get regions in grown memory?".
// Why: RATIONALE.md, "Why do calls run one after another where stacks cannot be kept apart?".

import { FiberError } from "../errors.js";
import { SOFT } from "../turn/scheduler.js";
import type { RegionSource } from "./options.js";

/** Whose stack a region is. */
export interface Tenant {
  readonly name: string;
  /** Somebody else has written over it. */
  lose(error: FiberError): void;
}

export interface Region {
  readonly at: number; // low, as an index of eights of bytes
  readonly low: number; // the guard begins here
  readonly high: number; // the shadow stack begins here and grows down
  tenant: Tenant | undefined; // now
}

export const REGION_SIZE = 65536; // bytes: what C compilers give a program's only stack

const GUARD = 64; // bytes: a line of the cache; jsglue/stubs knows this, and what is in it
// Regions lie three lines further apart than they are long: at 64 KB sharp all their ends would share a few lines of
// the cache.
const STAGGER = 192;
const UNTOUCHED = new Float64Array(Int32Array.of(0x0f1be4f1, 0x0f1be4f1).buffer)[0]!; // eight bytes of it
const PAGE = 65536;

/**
 * The size of regions for code written for JSPI, which cannot ask for more and expects of each call what the program's
 * own stack holds. That begins at base, so it is no larger. Those of as many as are started at once leave the program
 * three quarters of what memory may grow by.
 */
export function sizeLikeOwn(base: number, room: number): number {
  return Math.max(REGION_SIZE, Math.min(base >>> 0, (room * PAGE) / SOFT / 4) & -16);
}

export class Regions {
  readonly #free: Region[] = [];
  readonly #all: Region[] = [];
  #next = 0; // the part of grown memory that no region has been made of
  #end = 0;
  #eights: Float64Array;

  constructor(
    readonly source: RegionSource,
    readonly size: number,
    readonly memory: WebAssembly.Memory,
    readonly malloc: ((size: number) => number) | undefined,
  ) {
    this.#eights = new Float64Array(memory.buffer);
    if (source === "grow" && !this.#grow()) throw noRoom(size);
  }

  /** A region for a fiber that starts. Throws a FiberError when there is no room. */
  take(): Region {
    const region = this.#free.pop();
    if (!region) return this.#more();
    if (!this.intact(region)) this.#guard(region); // an overflow has run through it while it was nobody's
    return region;
  }

  give(region: Region): void {
    region.tenant = undefined;
    this.#free.push(region);
  }

  /**
   * Whether the guard of a region has not been written to. All of it is looked at: a function with one local writes one
   * word in 16 bytes, and which of the four depends on the compiler.
   */
  intact({ at }: Region): boolean {
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
   * Makes good the guard of a region, and those of the regions below that an overflow has run through, too. Returns
   * where the last of them lies, and whose regions it has reached, or lie where the stack is that ends at `end`.
   */
  mend(region: Region, end: number): [low: number, tenants: Set<Tenant>] {
    const tenants = new Set<Tenant>();
    for (const { tenant, low, high } of this.#all) if (tenant && low < region.low && high > end) tenants.add(tenant);
    for (let each = region; ;) {
      const { low, at } = each;
      const eights = this.#view(at + 2);
      const through = eights[at] !== UNTOUCHED || eights[at + 1] !== UNTOUCHED;
      this.#guard(each);
      const below = through
        ? this.#all.find((other) => other.high <= low && other.high > low - 2 * STAGGER)
        : undefined;
      if (below?.tenant) tenants.add(below.tenant);
      if (!below || this.intact(below)) return [low, tenants];
      each = below;
    }
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
   * The memory in eights of bytes, as far as `end` at least. A view of memory that has grown since has length zero, or,
   * if the memory is shared, ends where it did; asking the memory itself is slow.
   */
  #view(end: number): Float64Array {
    if (this.#eights.length < end) this.#eights = new Float64Array(this.memory.buffer);
    return this.#eights;
  }

  #more(): Region {
    if (this.source === "grow") {
      if (this.#next + this.size > this.#end && !this.#grow()) throw noRoom(this.size);
      const low = this.#next;
      this.#next += this.size + STAGGER;
      return this.#add(low);
    }
    const at = this.malloc!(this.size + 16) >>> 0;
    // Without room some allocators return 0, others -1, and none is to be believed that points out of the memory.
    if (at === 0 || at + this.size + 16 > this.memory.buffer.byteLength) throw noRoom(this.size);
    return this.#add(((at + 15) & ~15) >>> 0);
  }

  /** Grows memory by as many regions as fibers are started by default, or fewer; false if there is not room for one. */
  #grow(): boolean {
    for (let count = SOFT; count >= 1; count >>= 1) {
      try {
        const pages = Math.ceil((count * (this.size + STAGGER)) / PAGE);
        this.#next = this.memory.grow(pages) * PAGE;
        this.#end = this.#next + pages * PAGE;
        return true;
      } catch {
        // Past the memory's maximum, or what the engine has; try fewer.
      }
    }
    return false;
  }

  #add(low: number): Region {
    const region = { at: low >>> 3, low, high: low + this.size, tenant: undefined };
    this.#all.push(region);
    this.#guard(region);
    return region;
  }
}

function noRoom(size: number): FiberError {
  return new FiberError(
    "no-memory",
    `the guest's memory has no room for one more shadow stack of ${size} bytes; fewer fibers at once, a smaller shadowStack.size or shadowStack: { regions: "copy" } need less`,
  );
}
