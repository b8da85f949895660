// A plain call of an export, on stacks of our own. It is no fiber and has no continuation: its frames lie on the
// engine's stack, and stay there. When it issues an operation that enters a fiber, fibers run inside the operation, in
// a loop of the substrate's, until one of them goes on with the plain call: then the operation returns. So nothing of
// it takes a microtask, and it does not matter who has called: JavaScript, a table, or an import of any guest.
//
// To the machine the plain call is the root of a chain, as the call of an entry is; the entry lasts as long as the
// operation. The one thing that cannot be done is to leave the root: what would have to wait is refused, in the plain
// call and in the fibers that it has entered.
// Why: RATIONALE.md, "Why do the fibers of a plain call run inside the operation?".

import type { Binding } from "../guest/binding.js";
import type { Failing, Owner } from "../guest/call.js";
import type { ShadowStack } from "../guest/shadowstack.js";
import type { Runner, Stack } from "../substrate/substrate.js";
import type { Glue } from "./load.js";

type Pointers = ReadonlyMap<ShadowStack, number>;

/**
 * The root that plain calls are: what runs on the engine's stack. What else a runner has, nobody asks it for: it never
 * begins, and ends with the call.
 */
export class Plain implements Stack, Failing {
  readonly exportName = "(a plain call)";
  readonly frames = [];
  readonly thunk = {};
  readonly stack = this;
  runner = this as unknown as Runner & Owner;
  death: unknown = undefined;
  #low = 0; // its frames end here
  #others: Pointers | undefined; // of other instances' stacks, where it has frames
  #outcome: unknown = undefined;
  #threw = false;

  constructor(readonly binding: Binding) {}

  /** Another operation. */
  begin(): void {
    const { binding } = this;
    this.death = undefined;
    this.runner = this as unknown as Runner & Owner;
    this.#low = binding.parked?.value as number;
    const depths = binding.depths();
    this.#others = depths && new Map([...depths.keys()].map((stack) => [stack, stack.now]));
  }

  /** Puts the pointers of other instances' stacks back: no fiber that has frames there can go on. */
  back(): void {
    if (!this.#others) return;
    for (const [stack, depth] of this.binding.depths()!) stack.pointer.value = stack.now + depth;
    for (const [stack, now] of this.#others) stack.pointer.value = now;
  }

  /** What is called now has its frames below the plain call's, which are where the pointer rests otherwise. */
  below(): void {
    const { parked, stackPointer } = this.binding;
    if (parked) stackPointer!.value = this.#low;
  }

  /** The fiber that runs: errors are about that. */
  get name(): string {
    return (this.runner as unknown) === this ? this.exportName : this.runner.name;
  }

  leave(): void {}

  end(): void {}

  goOn(value: unknown): void {
    this.#outcome = value;
    this.#threw = false;
  }

  fail(error: unknown): void {
    this.#outcome = this.binding.thrown = error; // thrown: no stub takes it for the engine's refusal
    this.#threw = true;
  }

  /** What the root goes on with: a label, or an exception. */
  take(): number {
    if (this.#threw) throw this.#outcome;
    return this.#outcome as number;
  }
}

/** The trap that an operation of a plain call ends in, when the chain has been ended. */
export function trapOf({ deadly }: Glue, death: unknown): unknown {
  const { message, cause } = death as Error;
  if ((cause as Error | undefined)?.name === "RuntimeError") return cause; // the guest's own
  return Object.assign(deadly() as Error, { message, cause: death });
}

/** What is called now has its frames below those that have called the operation. */
export function goBelow({ parked, stackPointer }: Binding): void {
  if (parked) stackPointer!.value = parked.value;
}
