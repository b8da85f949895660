// A substrate holds stacks. The rest of fiberfill knows only this of it: the scheduler's driver makes a stack go on or
// end, a wait leaves it, and the runner on it is told when it is done. JSPI is one substrate (jspi.ts).

/** What runs on a stack: a call of an export, or a fiber that a guest has made. */
export interface Runner {
  /** The wasm function to call on the stack, with the runner as its argument. */
  readonly job: Function;
  /** The stack that it runs on; undefined before it has begun. */
  stack: Stack | undefined;
  /** Its job has returned. From now on the stack belongs to another. */
  returned(): void;
  /** A trap has ended its stack. */
  trapped(error: unknown): void;
}

export interface Stack {
  /** The code on it waits in an import. Returns what that import must return to the engine. */
  leave(): unknown;
  /** Makes the import return a value, in a later microtask. */
  goOn(value: unknown): void;
  /** Makes the import throw, in a later microtask. */
  fail(error: unknown): void;
  /**
   * Ends the stack: the import neither returns nor throws, and none of the code runs any more, not even its cleanup.
   */
  end(): void;
}
