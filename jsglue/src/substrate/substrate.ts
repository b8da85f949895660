// A substrate is what holds stacks. The rest of fiberfill knows no more of it than this: the scheduler's driver has a
// stack go on or end, a wait leaves it, and who runs on it is told when it is done. JSPI is one (jspi.ts).

/** What runs on a stack: a call of an export, or a fiber that a guest has made. */
export interface Runner {
  /** The wasm function that is called on the stack, with the runner. */
  readonly job: Function;
  /** Where it runs; undefined before it has begun. */
  stack: Stack | undefined;
  /** Its job has returned. The stack is somebody else's from now on. */
  returned(): void;
  /** A trap has ended its stack. */
  trapped(error: unknown): void;
}

export interface Stack {
  /** Its code waits in an import: returns what that import has to return to the engine. */
  leave(): unknown;
  /** The import returns a value, in a later microtask. */
  goOn(value: unknown): void;
  /** The import throws, in a later microtask. */
  fail(error: unknown): void;
  /** The import does neither: none of the code on this stack runs any more, not even its cleanup. */
  end(): void;
}
