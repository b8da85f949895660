// One fiber that a guest has made, and where its stack waits.

import type { Elsewhere } from "./elsewhere.js";
import type { FiberError } from "../errors.js";
import type { MachineOf } from "./jumps.js";
import type { Owner } from "../guest/call.js";
import type { Region } from "../guest/regions.js";
import type { Runner, Stack } from "../substrate/substrate.js";

/** A fiber of a guest's own; or the root, which is the call of an export, on a stack of the scheduler's. */
export class Coroutine implements Runner, Owner {
  stack: Stack | undefined = undefined;
  region: Region | undefined = undefined;
  started = false;
  over = false; // its function has returned, or a trap has ended its stack
  dead = false; // it has been ended from outside; its stack is gone, or about to go
  lost: FiberError | undefined = undefined; // another fiber has written over its stack
  elsewhere: Elsewhere | undefined = undefined; // its frames on other instances' stacks
  first = 0; // the address of its first event, and of its results
  event = 0; // the address of the event that its operation waits with
  results = 0; // the types of what its function has returned
  threw = false;
  thrown: unknown = undefined;
  /** The runner that stacks know it by: for the root this is the call. */
  readonly runner: Runner & Owner;

  bound: Uint8Array | undefined = undefined; // the first of the values that it awaits
  admits = 0; // its filter, if that is a function and not a table: an index of the table of functions
  admitsEnv = 0; // what the filter is called with

  constructor(
    readonly machine: MachineOf,
    readonly reference: number,
    readonly self: number, // its own reference, which its function is given
    readonly body: number,
    readonly env: number,
    readonly name: string,
    readonly job: Function,
    runner?: Runner & Owner,
  ) {
    this.runner = runner ?? this;
  }

  lose(error: FiberError): void {
    this.lost = error;
  }

  returned(): void {
    this.machine.returned(this);
  }

  trapped(error: unknown): void {
    this.machine.trapped(this, error);
  }
}
