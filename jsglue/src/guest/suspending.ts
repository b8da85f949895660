// Marking an import that may wait.

import { wrong } from "../values.js";

/** An import that may wait; made by {@link suspending}, put into an import object. */
export class Suspending {
  /** @internal */
  static get name(): string {
    return "Suspending";
  }

  /** @internal */
  constructor(
    /** What is called. */
    readonly fn: (...args: any[]) => unknown,
    /** What is called with the value of its Promise. */
    readonly deliver?: (value: any, ...args: any[]) => unknown,
    /** What is called where the engine cannot suspend the stack. It may answer, but not wait. */
    readonly direct: (...args: any[]) => unknown = fn,
    /** It waits whatever fn returns, and cannot be called where it cannot wait, as in JSPI. */
    readonly always = false,
  ) {}
}

/** An operation of a guest's own fibers after which another one may run. */
export class Jump extends Suspending {
  constructor(fn: (...args: any[]) => number | void | Promise<number>, refused: (...args: any[]) => unknown) {
    super(fn, undefined, refused);
  }
}

/** A guest's import object: what the platform takes, and marks. */
export type ImportObject = Record<string, Record<string, WebAssembly.ImportValue | Suspending>>;

/**
 * Marks an import that may wait. When `fn` returns a Promise, the fiber that called waits for it while others go on;
 * the import then returns what the Promise resolved to, or throws what it rejected with. When `fn` returns anything
 * else, the import returns that at once; when it throws, so does the import. Imports without this mark are called
 * directly and never wait. One that returns a Promise where the guest expects a number throws a FiberError with the
 * code "bad-import"; in the script tag the engine converts the Promise to 0 or NaN.
 *
 * `deliver` is for imports that write to the guest's memory. It is called when the fiber is about to go on, with what
 * the Promise resolved to and the arguments of the import; the import returns what it returns, or throws what it
 * throws. It must not wait itself. It is not called for a fiber that has been cancelled meanwhile. By the time a
 * Promise resolves an address may be wrong for two reasons, neither of which can occur in `deliver`: the fiber may have
 * ended, so that the memory belongs to another; and if the guest's fibers share one stack, which is copied
 * (RegionSource "copy"), another fiber's frames may lie there, and what is written to them is lost.
 *
 * Throws a FiberError with the code "bad-argument" if it is not given functions. The mark may stand in any number of
 * import objects.
 */
// [J-IMP-1, J-IMP-3, J-IMP-4]
// Why: RATIONALE.md, "Why deliver?".
export function suspending(
  fn: (...args: any[]) => unknown,
  deliver?: (value: any, ...args: any[]) => unknown,
): Suspending {
  if (typeof fn !== "function") throw wrong("suspending takes a function", fn);
  if (deliver !== undefined && typeof deliver !== "function") {
    throw wrong("the second argument of suspending is a function", deliver);
  }
  return new Suspending(fn, deliver);
}

/** As `fn` of a Suspending: the fiber goes to the end of the ready queue. */
export const YIELD = (): void => {};
/** As `fn` of a Suspending: the fiber sleeps for so many milliseconds. */
export const SLEEP = (_ms: number): void => {};

/** What a guest may import from the module "fiberfill" without anybody providing it. */
export const builtins: Record<string, Suspending | undefined> = {
  __proto__: null as unknown as undefined,
  yield: new Suspending(YIELD),
  sleep_ms: new Suspending(SLEEP),
};
