// One call of an export. Its thunk is given this object, so it is what crosses the border. It keeps the arguments until
// the export starts, the result until the Promise may settle, and which part of the guest's memory is the call's shadow
// stack.

import type { Binding } from "./binding.js";
import { FiberError, isA, words } from "../errors.js";
import { panicText } from "./panic.js";
import type { Region, Tenant } from "./regions.js";
import type { Serial } from "./serial.js";
import { ends, type Frames, type Holder } from "./shadowstack.js";
import { caught } from "../substrate/jspi.js";
import type { Stack } from "../substrate/substrate.js";
import { Task } from "../turn/task.js";
import { current, left } from "../turn/turn.js";
import { encode, none, type Encoded } from "./transfer.js";

/** How a call reaches its export: a thunk of module B, and how many parameters the export has. */
export interface Thunk {
  readonly name: string;
  readonly job: Function;
  readonly parameters: number;
  /**
   * The engine converts the arguments, as in JSPI, and a trap is the engine's own error. Otherwise the arguments must
   * be of the right types.
   */
  readonly jspi?: boolean;
}

/** What has a shadow stack: a call, or a fiber that a guest has made. */
export interface Owner extends Tenant {
  region: Region | undefined;
}

/** The arguments of a call that is over, or whose export has taken them. */
export const nothing: readonly unknown[] = [];

// Firefox alone has this class, and throws it where a stack overflows.
const InternalError = (globalThis as { InternalError?: new () => Error }).InternalError;

const noFrames: readonly Frames[] = [];

export class Call extends Task implements Owner, Holder {
  stack: Stack | undefined = undefined;
  declare runner: Owner & Task["runner"];

  encoded: Encoded; // the strings and bytes among args
  placed = 0; // so many of its arguments are on its shadow stack, and have taken two parameters
  declare length?: number | undefined; // of the bytes whose address was handed out last
  declare top?: number; // where the next bytes among the arguments are put, behind the first
  result: unknown = undefined;
  declare threw?: boolean; // result is what the export threw
  calling = false; // a marked import, which runs
  declare turns?: Serial; // among which its own is, where calls run one after another
  declare waiters?: Call[] | undefined; // calls that its import has made and that wait for their turn behind this one

  region: Region | undefined = undefined;
  high = 0; // where its shadow stack begins
  declare touched?: boolean; // something may have been written to the guard of its region
  // it has waited in an import of a guest other than its own: stubs and thunks may look at a region that is not its own
  declare abroad?: boolean;
  declare lost?: FiberError | undefined; // somebody else has written over its shadow stack

  frames: readonly Frames[] = noFrames; // what else it has on shadow stacks: see shadowstack.ts
  declare away?: boolean; // none of its code runs: it waits, or has ended
  declare inside?: boolean; // it has begun inside an import of another, whose frames are above

  constructor(
    id: number,
    given: string | undefined,
    readonly thunk: Thunk,
    readonly binding: Binding,
    public args: readonly unknown[],
  ) {
    super(id);
    if (given !== undefined) this.given = given;
    this.runner = this;
    this.encoded = !SCRIPT_TAG && thunk.jspi ? none : encode(args);
  }

  get exportName(): string {
    return this.thunk.name;
  }

  get tenant(): this {
    return this;
  }

  /** Its frames on the one stack of its guest are copied out whenever it waits. */
  get copied(): boolean {
    return (SCRIPT_TAG || !this.thunk.jspi) && this.binding.copies;
  }

  get job(): Function {
    return this.thunk.job;
  }

  defers(): boolean {
    const { turns } = this.binding;
    if (!turns?.defers(this)) return false;
    this.binding.tell(this);
    const caller = running();
    if (caller?.calling && caller === turns.innermost) (caller.waiters ??= []).push(this);
    return true;
  }

  override get before(): Task | undefined {
    const entry = this.turns?.entry;
    return entry !== this ? entry : undefined;
  }

  /** A machine has one live chain: calls of its guest begin inside no other. */
  override nest(outer = this.turns): boolean {
    if (this.state !== "queued" || !this.before || this.binding.machine) return false;
    outer!.nest(this);
    return true;
  }

  begin(): void {
    this.binding.substrate.begin(this);
  }

  returned(): void {
    const { binding } = this;
    // A fiber may be lost while it runs, to another call that began inside its own: its result was read from damaged
    // memory.
    const overflow = (binding.sound(this) ? undefined : binding.overflow(this)) ?? this.lost;
    if (overflow) left(this, true, overflow, false);
    else left(this, !!this.threw, this.result, false);
  }

  trapped(error: unknown): void {
    const { binding } = this;
    const death = this.death ?? binding.overflow(this, binding.reach());
    binding.trapped(this);
    left(this, true, death ?? trapError(this, error), true);
  }

  lose(error: FiberError): void {
    this.lost = error;
    this.kill(error);
  }

  release(): void {
    const { binding } = this;
    if (this.frames.length > 0) ends(this);
    if (this.stack) binding.begun--;
    if (binding.turns?.entry === this) binding.machine?.over(this);
    this.turns?.over(this);
    if (this.region) binding.regions!.give(this.region);
    this.region = undefined;
    this.stack = undefined;
    this.args = nothing;
    this.encoded = none;
  }

  /** Bytes of shadow stack that it uses, or has used: see Fiber.stackUsed. */
  get stackUsed(): number {
    const { frames, region, binding } = this;
    return region ? binding.regions!.used(region) : frames.reduce((sum, { low, high }) => sum + high - low, 0);
  }
}

/** The call whose code runs, or is about to. */
export const running = (): Call | undefined => current as Call | undefined; // there are no other fibers

/** What an error is about: a call. */
export interface Failing {
  readonly name: string;
  readonly exportName: string;
  readonly binding: Binding;
  readonly thunk: { readonly jspi?: boolean };
  readonly runner: Owner & Task["runner"];
  readonly frames: readonly Frames[];
}

/** What a call whose stack has ended by a trap rejects with. */
export function trapError({ name, exportName, thunk, binding }: Failing, error: unknown): unknown {
  if (!SCRIPT_TAG && thunk.jspi) return error;
  // Recognised by its name: if another window has instantiated the function, the trap is of that window's class.
  if ((error as Error).name === "RuntimeError") {
    const panic = SCRIPT_TAG ? "" : panicText(binding);
    const text = `fiber ${name} trapped in export ${exportName}: ${words(error)}${panic}`;
    return new FiberError("trap", text, { fiber: name, cause: error });
  }
  const text = `fiber ${name} recursed too deeply in export ${exportName}: ${words(error)}`;
  return new FiberError("stack-overflow", text, { fiber: name, cause: error });
}

/**
 * The error of a call whose thunk has thrown: what was thrown, unless that is Firefox's error for a stack overflow,
 * which wasm can catch.
 */
export function thrown(call: Failing): unknown {
  const error = caught();
  return InternalError && isA(error, InternalError) ? trapError(call, error) : error;
}
