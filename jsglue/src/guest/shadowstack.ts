// The shadow stacks of a page: one for each global that is a stack pointer, in any instance. Instances may share a
// stack, and instances that call each other by imports or tables have frames of one fiber on several stacks: nobody can
// tell beforehand on which. So a wait moves every stack pointer of the page.
//
//   begins    the pointers stay where they rest; what the fiber then pushes
//             makes that place its own
//   waits     where each pointer is then is kept with the fiber, and the
//             pointers go back to rest: below what is in its place
//   goes on   each pointer is where it was, set by the stub, as the fiber goes on
//   ends      the pointers rest, and the places are free
//
// Once a fiber of another instance has waited on a stack, that stack gets regions, if its guest can have them: each
// fiber that begins later finds the pointer in a region of its own. Before that, and without regions, a fiber's frames
// are on the one stack (onestack.ts).
//
// A guest that is alone needs none of this: its stubs and thunks know its only pointer, and its fibers have regions.
// Stubs and thunks check one flag of worker.wasm, which is 0 until there is a second guest that the first could reach.
//
// From then on a wait costs some hundreds of nanoseconds for each stack of the page: JavaScript reads and sets its
// pointer.

import type { Binding } from "./binding.js";
import { FiberError } from "../errors.js";
import { OneStack } from "./onestack.js";
import type { Region, Regions, Tenant } from "./regions.js";
import { WebAssembly } from "../platform.js";
import { isGlobal, isTable } from "../values.js";
import { workerModule } from "../substrate/jspi.js";

/** An owner of frames: a fiber, or a stack that the platform's own promising has made. */
export interface Holder {
  frames: readonly Frames[];
  /** It waits or has ended: none of its code runs. */
  away?: boolean;
  /** The fiber; undefined: a stack that the platform's own promising has made. */
  readonly tenant: Fiber | undefined;
}

interface Fiber extends Tenant {
  readonly binding: Binding;
  readonly region: Region | undefined;
  /** Its frames on its guest's one stack are copied out whenever it waits. */
  readonly copied: boolean;
}

/** What one fiber has on one stack. */
export interface Frames {
  readonly stack: ShadowStack;
  readonly holder: Holder;
  readonly region: Region | undefined; // where they are; undefined: on the one stack
  readonly lent: boolean; // the fiber got the region on this stack; it is not its thunk's
  readonly high: number; // they begin here
  low: number; // and end here, when the fiber waits
  readonly stays: boolean; // while the fiber waits they stay in their place, as in raw JSPI, if possible
  alone: boolean; // on the one stack: it is not inside the import of another, whose frames may go on over these
  saved: Uint8Array | undefined; // copied out
}

const none: readonly Frames[] = [];
const byPointer = new WeakMap<WebAssembly.Global, ShadowStack>();
const known: WeakRef<ShadowStack>[] = [];

export class ShadowStack {
  /** The pointer's value when no fiber runs. */
  readonly rest: WebAssembly.Global;
  readonly base: number;
  /** Where the running fiber's region begins, for the stubs and thunks of each guest that has this pointer. */
  readonly lows: WebAssembly.Global[] = [];
  /** The frames that are not in regions. */
  readonly one: OneStack;

  #regions: Regions | undefined;
  #makers: (() => Regions | undefined)[] = [];
  #visited = false; // a fiber of another guest has waited on it
  #spare: Region | undefined; // where the pointer lies for a fiber that has no frames here yet
  #from: number; // the pointer's value for such a fiber
  atRest: number; // the value of rest
  #home: (() => void) | undefined; // sets the pointer to where the stack begins
  #alone = true; // the fiber that runs may have its frames in their place
  #under: number | undefined; // where the frames end below which a call has begun

  private constructor(
    readonly pointer: WebAssembly.Global,
    readonly memory: WebAssembly.Memory,
  ) {
    this.base = this.#from = this.atRest = (pointer.value as number) >>> 0;
    this.rest = new WebAssembly.Global({ value: "i32", mutable: true }, this.base);
    this.one = new OneStack(memory, this.base);
    byPointer.set(pointer, this);
    known.push(new WeakRef(this));
  }

  /**
   * The stack of a guest with this pointer, and whether it is a new one. `make` makes regions in the guest's memory, if
   * the guest can have them.
   */
  static of(
    pointer: WebAssembly.Global,
    memory: WebAssembly.Memory,
    make: () => Regions | undefined,
  ): [stack: ShadowStack, made: boolean] {
    const known = ShadowStack.at(pointer);
    if (known && known.memory !== memory && known.regions) {
      throw new FiberError(
        "bad-guest",
        "this guest has another one's stack pointer and another memory: a call would have its frames in both. " +
          "Give each memory a stack pointer of its own",
      );
    }
    const stack = known ?? new ShadowStack(pointer, memory);
    if (!stack.#regions && stack.memory === memory) stack.#makers.unshift(make);
    return [stack, !known];
  }

  static at(pointer: unknown): ShadowStack | undefined {
    return byPointer.get(pointer as WebAssembly.Global);
  }

  get now(): number {
    return (this.pointer.value as number) >>> 0;
  }

  /** Its regions, if one of its guests can have them. */
  get regions(): Regions | undefined {
    for (let make; !this.#regions && (make = this.#makers.pop());) this.#regions = make();
    return this.#regions;
  }

  /** Sets the pointer to its value when no fiber runs. What still calls a spoilt guest, and needs a stack, traps. */
  settle(): void {
    const low = this.one.low;
    const under = SCRIPT_TAG ? undefined : this.#under;
    const at = this.#regions?.spoilt ? 0 : under === undefined || (under <= this.base && low < under) ? low : under;
    if (at !== this.atRest) this.rest.value = this.atRest = at;
    this.pointer.value = this.#from = at;
  }

  /** A fiber that has no frames here begins or goes on. */
  offer(alone: boolean): void {
    if (this.#regions ? !this.#regions.spoilt : this.#visited) {
      try {
        this.#spare ??= this.regions?.take();
      } catch {
        // No room: the fiber uses the one stack.
      }
      if (this.#spare) this.pointer.value = this.#spare.high;
    }
    this.#from = (this.pointer.value as number) >>> 0;
    this.#alone = alone && this.#from === this.one.low;
    this.#region(this.#spare);
  }

  /**
   * A fiber of the guest that has no region begins. Returns where its frames begin. This is not where the pointer rests
   * if the fiber begins inside another's import.
   */
  begin(holder: Holder): number {
    if (this.#alone && this.one.deep) {
      this.#from = this.base;
      this.one.begin(this.claim(holder));
    }
    return this.#from;
  }

  /** How many bytes the running fiber has here. */
  get depth(): number {
    return this.#from - this.now;
  }

  /** Whether the running fiber, whose pointer is at `at`, has pushed anything here. */
  pushed(at: number): boolean {
    return at !== this.#from;
  }

  /** From now on the running fiber's place on this stack is its own. */
  claim(holder: Holder): Frames {
    const { tenant } = holder;
    let region = tenant?.binding.stack === this ? tenant.region : undefined;
    const lent = !region && this.#from === this.#spare?.high;
    if (lent) {
      region = this.#spare!;
      region.tenant = tenant;
      this.#spare = undefined;
    }
    this.#visited ||= !region;
    const high = region?.high ?? this.#from;
    const stays = !(tenant?.binding.stack === this && tenant.copied);
    const frames = { stack: this, holder, region, lent, high, low: high, stays, alone: this.#alone, saved: undefined };
    holder.frames = [...holder.frames, frames];
    return frames;
  }

  /** A fiber, whose frames here end at `low`, waits. */
  park(frames: Frames, low: number): void {
    frames.low = low;
    if (!frames.region) this.one.park(frames);
  }

  /** A fiber that has frames here goes on. */
  resume(frames: Frames): void {
    if (!frames.region) this.one.resume(frames);
    this.pointer.value = frames.low;
    this.#from = frames.high;
    this.#region(frames.region);
  }

  /** A fiber that had frames here has ended. */
  over(frames: Frames): void {
    if (!frames.region) this.one.over(frames);
    else if (frames.lent) this.regions!.give(frames.region);
  }

  /** The region in which the running fiber found the pointer, if the fiber has written below it without a wait. */
  get overrun(): Region | undefined {
    return this.#spare && !this.#regions!.intact(this.#spare) ? this.#spare : undefined;
  }

  #region(region: Region | undefined): void {
    for (const low of this.lows) low.value = region?.low ?? 0;
  }

  #back(at: number): void {
    this.pointer.value = this.#regions?.spoilt ? 0 : at;
  }

  /** A call begins inside another call, or inside a plain one. The function returned goes back to the outer call. */
  below(): () => void {
    if (SCRIPT_TAG) return undefined!; // nobody calls it there
    const pointer = this.now;
    if (pointer === this.base && !shared) return (this.#home ??= () => this.#back(this.base));
    const from = this.#from;
    const alone = this.#alone;
    const under = this.#under;
    const lows = this.lows.map((low) => low.value as number);
    const spare = from === this.#spare?.high ? this.#spare : undefined; // the running code may have frames there
    if (spare) this.#spare = undefined;
    this.#under = pointer;
    this.rest.value = this.atRest = pointer;
    return () => {
      if (spare) {
        if (this.#spare) this.#regions!.give(this.#spare);
        this.#spare = spare;
      }
      this.#under = under;
      this.settle();
      // Lower, if the call waits with its frames in their place.
      const now = pointer <= this.base && this.one.low < pointer ? this.one.low : pointer;
      this.#back(now);
      this.#from = from === pointer ? now : from;
      this.#alone = alone;
      this.lows.forEach((low, i) => (low.value = lows[i]!));
    };
  }
}

/** Whether fibers may have frames on other stacks than their own region. */
export let shared = false;

let open = false; // some guest's code may call another's, or be called, without JavaScript in between
let places = 0; // stacks, and guests that have none, where fibers begin or wait

/** From now on they may. */
export function share(): void {
  shared = true;
  workerModule().shared.value = 1;
}

/**
 * There is one more guest, with these imports and exports. Nobody sees which functions JavaScript puts into which
 * tables later: so a guest that has any table may be called by all others.
 */
export function met(
  place: boolean,
  values: readonly unknown[],
  exports: readonly WebAssembly.ModuleExportDescriptor[],
): void {
  open ||=
    exports.some(({ kind }) => kind === "table") ||
    values.some((value) =>
      typeof value === "function"
        ? /^\d+$/.test(value.name) // a function of wasm
        : isTable(value) || isGlobal(value),
    );
  if (place) places++;
  if (places > 1 && open) share();
}

function stacks(): ShadowStack[] {
  const all: ShadowStack[] = [];
  for (let i = known.length; --i >= 0;) {
    const stack = known[i]!.deref();
    if (stack) all.push(stack);
    else known.splice(i, 1);
  }
  return all;
}

const on = ({ frames }: Holder, stack: ShadowStack): Frames | undefined => {
  for (const each of frames) if (each.stack === stack) return each;
  return undefined;
};

/** How many bytes the running fiber has on each stack where it has any, except its guest's. */
export function depths(own: ShadowStack | undefined): Map<ShadowStack, number> {
  return new Map(stacks().flatMap((stack) => (stack === own || stack.depth === 0 ? [] : [[stack, stack.depth]])));
}

/** A fiber begins. If it has a region on its own stack, its thunk sets the pointer there. */
export function begins(holder: Holder, alone: boolean): void {
  holder.away = false;
  const own = holder.tenant?.region && holder.tenant.binding.stack;
  for (const stack of stacks()) if (stack !== own) stack.offer(alone);
}

/** A fiber begins to wait in an import of a guest. The import's stub has already put that guest's pointer to rest. */
export function waits(holder: Holder, where: Binding): void {
  holder.away = true;
  const all = stacks();
  for (const stack of all) {
    const here = stack === where.stack;
    const at = ((here ? where.parked! : stack.pointer).value as number) >>> 0;
    let frames = on(holder, stack);
    // The fiber is in the code of two guests, whose functions may have kept the pointer even if they have pushed
    // nothing.
    if (!frames && (here || stack === holder.tenant?.binding.stack || stack.pushed(at))) frames = stack.claim(holder);
    if (frames) stack.park(frames, at);
  }
  for (const stack of all) stack.settle();
}

/** A fiber goes on. Does nothing if it has not waited: its import may have thrown at once. */
export function goesOn(holder: Holder): void {
  if (!holder.away) return;
  holder.away = false;
  for (const stack of stacks()) {
    const frames = on(holder, stack);
    if (frames) stack.resume(frames);
    else stack.offer(true);
  }
}

/** A fiber has ended, or a trap has ended it. */
export function ends(holder: Holder): void {
  holder.away = true;
  for (const frames of holder.frames) frames.stack.over(frames);
  holder.frames = none;
}

/** A region on another stack that the running fiber has overflowed, before it has waited there. */
export function overrun(): [Regions, Region] | undefined {
  for (const stack of stacks()) {
    const { overrun } = stack;
    if (overrun) return [stack.regions!, overrun];
  }
  return undefined;
}

/** Puts all pointers to rest. */
export function settle(): void {
  for (const stack of stacks()) stack.settle();
}

/** A call begins inside the running code. The function returned goes back to that code. */
export function below(): () => void {
  const back = stacks().map((stack) => stack.below());
  return () => {
    for (const go of back) go();
  };
}
