// What one guest instance has at the border: the memory and the stack pointer that its fibers use, and what its stubs
// and thunks ask for. Its imports that may wait are in imports.ts.

import { FiberError, isA } from "../errors.js";
import { running, thrown, type Call, type Failing } from "./call.js";
import { SuspendError } from "../platform.js";
import type { Machine } from "../proposals/load.js";
import { SPOILT, type Region, type Regions } from "./regions.js";
import type { Serial } from "./serial.js";
import { begins, depths, ends, goesOn, overrun, settle, shared, type ShadowStack } from "./shadowstack.js";
import type { Plan, Stacks } from "./stacks.js";
import { caught } from "../substrate/jspi.js";
import type { Substrate } from "../substrate/substrate.js";
import { tell } from "../turn/tell.js";
import { current } from "../turn/turn.js";
import { visiting } from "./visitor.js";

export class Binding {
  memory: WebAssembly.Memory | undefined = undefined;
  stackPointer: WebAssembly.Global | undefined = undefined;
  base = 0; // the stack pointer when no fiber runs
  regions: Regions | undefined = undefined;
  parked: WebAssembly.Global | undefined = undefined; // where the stack that has begun to wait last ends
  // Where the region of the running fiber begins: stubs and thunks read this.
  low: WebAssembly.Global | undefined = undefined;
  machine: Machine | undefined = undefined; // of a guest with fibers of its own
  stack: ShadowStack | undefined = undefined; // the one that stackPointer points to
  copies = false; // fibers have no regions on it
  turns: Serial | undefined = undefined; // calls run one after another
  plan!: Plan; // how their stacks are kept
  stacks!: Stacks; // the same, for users
  begun = 0; // so many calls have, and are not over

  constructor(readonly substrate: Substrate) {}

  #told = false; // that calls cannot overlap as they should

  thrown: unknown = undefined; // what a user's function threw last

  /** Whether nothing can have overflowed, so that `overflow` need not be called. */
  sound(task: Call): boolean {
    return !task.touched && !this.machine;
  }

  /**
   * Where the stack of a fiber ends that begins to wait for an import of this guest; undefined if that is not known.
   */
  end(task: Failing): number | undefined {
    const here = task.binding.stackPointer === this.stackPointer && !task.binding.plan.wanders;
    return here && this.parked ? (this.parked.value as number) >>> 0 : undefined;
  }

  /** What module B imports from "js" beside the functions of transfer.ts. */
  glue(always: ((i: number) => boolean) | undefined): Record<string, unknown> {
    return {
      rest: this.stack?.rest,
      size: this.regions?.size,
      start: (call: Call) => this.#start(call),
      failed: (call: Call) => {
        call.threw = true;
        call.result = thrown(call);
      },
      refused: (i: number) => {
        // The user's function may itself have thrown such an error or rejected with one: that is no refusal.
        const error = caught();
        return (
          (SCRIPT_TAG || !always!(i)) && isA(error, SuspendError) && error !== this.thrown && error !== current?.outcome
        );
      },
      touched: () => {
        const call = running();
        if (call) call.touched = true; // otherwise a plain call looks at the region of a fiber that ran before
      },
      resumed: () => {
        const call = running();
        call?.turns?.goesOn();
        const holder = SCRIPT_TAG ? call : (call ?? visiting);
        if (holder) goesOn(holder);
      },
      ended: (call: Call) => {
        call.lost ??= this.#lent(call);
        ends(call);
        settle();
      },
    };
  }

  /** Prepares a fiber that starts. Returns its stack pointer: the end of its region, if it has one. */
  #start(task: Call): number {
    if (this.begun++ > 0) this.tell(task);
    if (task.cancelled) throw task.reason; // it was cancelled after the scheduler had named it
    if (this.regions) {
      task.region = this.regions.take();
      task.region.tenant = task;
    }
    this.machine?.start(task);
    if (shared) begins(task, SCRIPT_TAG || !task.inside);
    // A call that begins inside another one begins below it, since the outer call may have passed pointers to its
    // frames.
    const alone = shared && task.turns === this.turns;
    return (task.high = task.region?.high ?? (alone ? this.stack?.begin(task) : this.stack?.now) ?? 0);
  }

  /**
   * Makes room on the stack of a fiber that starts for the bytes among its arguments. Returns where; 0 if there is no
   * room.
   */
  makeRoom({ high, region, encoded }: Call): number {
    const top = 16 * Math.floor((high - encoded.size) / 16);
    // Nobody can tell where the guest's own stack ends: the program's data lies below it.
    const low = region?.low ?? Math.max(0, high - this.plan.size);
    if (!this.memory || !this.stackPointer || top < low + 1024) return 0;
    this.stackPointer.value = top;
    return top;
  }

  /** A call cannot overlap others with a stack of its own. Reports this once, unless the user has asked for it. */
  tell(call: Call): void {
    const { told, why, hindrance } = this.plan;
    if (!told || this.#told) return;
    this.#told = true;
    tell("together", call.name, !!this.turns, why!, hindrance);
  }

  /** The guest's memory, which may have grown since the last call. */
  bytes(): Uint8Array {
    return new Uint8Array(this.memory!.buffer);
  }

  /**
   * Returns the error for a fiber that has written below its region, or whose stack pointer lies below it; the fibers
   * whose stacks lie there are ended, too. Or returns the error for a refused operation that would have ended the
   * fiber, had JavaScript below it not caught the trap. `end` is where the fiber's stack ends now, if that is known.
   */
  overflow(task: Failing, end = Infinity): FiberError | undefined {
    if (this.machine?.failure) return this.machine.failure;
    const { region } = task.runner;
    if (region && (end < region.low || !this.regions!.intact(region)))
      return overflown(task, this.regions!, region, end);
    return this.#lent(task);
  }

  /** The same for the regions that it has on other stacks. */
  #lent(task: Failing): FiberError | undefined {
    for (const { lent, region, stack } of task.frames)
      if (lent && !stack.regions!.intact(region!)) return overflown(task, stack.regions!, region!, Infinity);
    const over = shared && overrun();
    return over ? overflown(task, ...over, Infinity) : undefined;
  }

  /** How many bytes the running fiber has on each stack of other instances; undefined: none can have any. */
  depths(): ReadonlyMap<ShadowStack, number> | undefined {
    return shared ? depths(this.stack) : undefined;
  }

  /**
   * A trap has ended a fiber: nobody has put the pointers to rest, unless the trap was in the call that began the
   * fiber.
   */
  trapped(task: Call): void {
    if (shared) ends(task);
    if (SCRIPT_TAG || !task.over) this.rest();
  }

  /** Where the stack of a fiber ends that has just trapped; undefined if that is not known. */
  reach(): number | undefined {
    const { stack } = this;
    if (!stack || this.plan.wanders || stack.now === stack.atRest) return undefined;
    // Beyond the memory: it has gone below the lowest address.
    return stack.now > stack.memory.buffer.byteLength ? 0 : stack.now;
  }

  /** Puts the pointers where they are when no fiber runs. */
  rest(): void {
    if (shared) settle();
    else this.stack?.settle();
  }
}

/** Ends the fibers whose stacks an overflow has reached. Returns the error for the fiber that has overflowed. */
function overflown(task: Failing, regions: Regions, region: Region, end: number): FiberError {
  // If the stack still ends where it was deepest, that is known. Otherwise the overwritten guards show how far it went.
  const [low, lost] = regions.mend(region, end);
  const depth = region.high - low;
  const text =
    `fiber ${task.name} needs more shadow stack than the ${regions.size} bytes it has, in export ${task.exportName}: ` +
    `at least ${depth}. ` +
    `Ask for more by the option shadowStack: { size: ${2 ** Math.ceil(Math.log2(2 * depth))} } of instantiate` +
    (regions.spoilt ? `; ${SPOILT}` : "");
  for (const { tenant } of lost)
    tenant?.lose(
      new FiberError("region-overflow", `fiber ${tenant.name} lost its shadow stack: ${text}`, { fiber: tenant.name }),
    );
  return new FiberError("region-overflow", text, { fiber: task.name });
}
