// A substrate holds stacks. The rest of fiberfill knows only this of it: the scheduler's driver makes a stack go on or
// end, a wait leaves it, and the runner on it is told when it is done. There are two: the engine's own stacks, lent by
// JSPI (jspi.ts), and stacks that are left frame by frame (unwind.ts).

import type { Call } from "../guest/call.js";
import type { Shape } from "../guest/module.js";

/** Which substrate: the engine's own stacks, or ours. */
export type Kind = "jspi" | "unwind";

export interface Substrate {
  /** Begins a runner, in a later microtask. */
  begin(runner: Runner): void;
  /** Begins a runner on a stack of its own, inside this call. */
  beginHere(runner: Runner): void;
  /**
   * Returns what a generated module imports for a function that may wait. That function returns its answer, or what
   * {@link Stack.leave} has returned. `yields` is given if it only yields.
   */
  waits(fn: (...args: any[]) => unknown, yields?: Yields): unknown;
  /**
   * Calls `fn`, and runs inside this call the stacks that go on or begin because of it, until none does. Nothing else
   * can wait meanwhile: other imports that may wait are refused. If this method is missing, stacks go on in a
   * microtask.
   */
  inside?<A extends unknown[], T>(fn: (...args: A) => T, args: A): T;
  /** Throws where the engine's stack has no room for a change of what is known of stacks. */
  needRoom?(): void;
  /**
   * Whether the code that runs is on this stack, and not on another that has begun inside it. If this method is
   * missing, it is.
   */
  runs?(stack: Stack | undefined): boolean;
  /** Instantiates a generated module, which lies between a guest and its imports. */
  instance(bytes: Uint8Array, imports: Record<string, unknown>): WebAssembly.Instance;
  /** Instantiates a guest. `functions` are its imports that are functions; undefined stands for those that may wait. */
  guest(
    module: WebAssembly.Module,
    shape: Shape,
    imports: WebAssembly.Imports,
    functions: readonly unknown[],
  ): Promise<WebAssembly.Instance>;
  /**
   * Instantiates, at once, a module without stubs that imports only functions: those that may wait are results of
   * `waits`. If this method is missing, the platform instantiates the module.
   */
  bare?(module: WebAssembly.Module, shape: Bare, functions: readonly unknown[]): WebAssembly.Instance;
}

/** What must be known of a module without stubs. */
export type Bare = Pick<Shape, "header" | "bytes" | "options">;

/**
 * For an import that only yields: whether this fiber may yield without any check before it, and without telling
 * anybody. Returns the import's name, or false.
 */
export type Yields = (task: Call) => string | false;

/** An operation of a guest's own fibers, in {@link Substrate.waits}. */
export interface Jumping {
  (...args: number[]): any;
  /** What is called where no stack can be left. */
  direct?: (...args: number[]) => any;
}

/** What runs on a stack: a call of an export, or a fiber that a guest has made. */
export interface Runner {
  /** The wasm function to call on the stack, with the runner as its argument. */
  readonly job: Function;
  /** The stack that it runs on; undefined before it has begun. */
  stack: Stack | undefined;
  /** Whether its job has ended by an exception, which is the result. */
  readonly threw?: boolean;
  /** It has been ended, and what {@link trapped} is given does not matter. */
  readonly dead?: boolean;
  readonly result?: unknown;
  /** Its job has returned. From now on the stack belongs to another. */
  returned(): void;
  /** A trap has ended its stack. */
  trapped(error: unknown): void;
}

export interface Stack {
  /** The guest's functions that it stands in while it waits, innermost first; undefined if that is not known. */
  readonly frames?: readonly string[] | undefined;
  /**
   * The code on it waits in an import. Returns what that import must return. The three methods below end the wait; they
   * do nothing a second time, or on a stack that does not wait.
   */
  leave(): unknown;
  /** Makes the import return a value, later, not inside this call. */
  goOn(value: unknown): void;
  /** Makes the import throw, later, not inside this call. */
  fail(error: unknown): void;
  /**
   * Ends the stack: the import neither returns nor throws, and none of the code runs any more, not even its cleanup.
   */
  end(): void;
}
