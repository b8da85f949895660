// A plain call of an export, on stacks of our own. It is no fiber and has no continuation: its frames lie on the
// engine's stack, and stay there. When it issues an operation that enters a fiber, fibers run inside the operation, in a
// loop of the substrate's, until one of them goes on with the plain call: then the operation returns. So nothing of it
// takes a microtask, and it does not matter who has called: JavaScript, a table, or an import of any guest.
//
// To the machine the plain call is the root of a chain, as the call of an entry is; the entry lasts as long as the
// operation. The one thing that cannot be done is to leave the root: what would have to wait is refused, in the plain
// call and in the fibers that it has entered.
// Why: RATIONALE.md, "Why do the fibers of a plain call run inside the operation?".

import type { Binding } from "../guest/binding.js";
import type { Failing, Owner } from "../guest/call.js";
import type { Runner, Stack } from "../substrate/substrate.js";
import type { Glue } from "./load.js";

const exportName = "(a plain call)";

/** The root that plain calls are: what runs on the engine's stack. */
export class Plain implements Runner, Stack, Owner, Failing {
  readonly exportName = exportName;
  readonly frames: readonly never[] = [];
  readonly thunk = { jspi: false };
  readonly job: Function = Object;
  readonly stack: Stack = this;
  readonly region = undefined;
  runner: Runner & Owner = this;
  outcome: unknown = undefined;
  threw = false;
  death: unknown = undefined;

  constructor(readonly binding: Binding) {}

  /** The fiber that runs: errors are about that. */
  get name(): string {
    return this.runner === this ? exportName : this.runner.name;
  }

  /** Another operation. */
  begin(): this {
    this.runner = this.outcome = this;
    this.threw = false;
    this.death = undefined;
    return this;
  }

  leave(): void {}

  goOn(value: unknown): void {
    this.outcome = value;
  }

  fail(error: unknown): void {
    this.outcome = this.binding.thrown = error; // thrown: no stub takes it for the engine's refusal
    this.threw = true;
  }

  end(): void {}

  lose(): void {}

  returned(): void {}

  trapped(): void {}

  /** What the root goes on with: a label, or an exception. */
  take(): number {
    if (this.threw) throw this.outcome;
    return this.outcome as number;
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

/**
 * The shadow stacks while fibers run inside a plain call: JavaScript that they call, and what it calls, has its frames
 * below those of the plain call. The function returned puts the pointers back.
 */
export function keepPointers(glue: Glue, binding: Binding): (() => void) | undefined {
  goBelow(binding);
  const { stack } = binding;
  if (!SCRIPT_TAG) return binding.depths() ? glue.below() : stack?.below();
  if (!stack) return undefined;
  const { atRest, now } = stack;
  stack.rest.value = stack.atRest = now;
  return () => {
    stack.rest.value = stack.atRest = atRest;
    stack.pointer.value = now;
  };
}
