// fiberfill's own errors. What the user's code throws or rejects with never becomes a FiberError: it reaches the user's
// Promise unchanged, by identity.

/** The stable codes of {@link FiberError}; a message may change, a code does not. */
export type FiberErrorCode =
  | "no-jspi" // the engine has no stacks that can wait, or not those that were asked for
  | "not-wasm" // the engine does not accept the bytes as a module
  | "unsupported-module" // the engine accepts the module, our parser does not
  | "not-a-response" // a streaming function was given something other than a Response
  | "wrong-mime-type" // the Response is not application/wasm
  | "bad-response" // the server answered with an error status, or the body broke off
  | "foreign-module" // a WebAssembly.Module that fiberfill did not compile
  | "missing-import" // the import object lacks something that the module asks for
  | "bad-import" // the engine refused the import object
  | "bad-guest" // a guest with fibers of its own lacks what they need
  | "load-failed" // the code that such guests need could not be loaded
  | "unknown-export"
  | "bad-argument"
  | "no-memory" // no room for a region or a fiber
  | "trap" // the guest trapped
  | "stack-overflow" // the guest recursed too deeply for the engine's stack
  | "region-overflow" // the guest used more shadow stack than its region has
  | "cannot-suspend" // a wait where the engine cannot suspend
  | "deadlock" // fibers wait for each other in a cycle
  | "cancelled" // cancel() without a reason, or by an arena
  | "released" // release()
  | "cancel-ignored" // the guest kept ignoring its cancellation
  | "core-trap"; // the scheduler itself failed: a bug in fiberfill

/** Where docs/errors.md has an entry. */
export const linkTo = (entry: string): string =>
  `https://github.com/fiberfill/fiberfill/blob/main/docs/errors.md#${entry}`;

/**
 * A trap, or a refusal by fiberfill. `code` is stable. `fiber` is the name of the fiber concerned, if there is one.
 * `cause` is the engine's own error, if there is one.
 */
export class FiberError extends Error {
  // Classes that users see name themselves, by getters: minifiers rename classes, and drop an unused one only if its
  // definition does nothing.
  /** @internal */
  static override get name(): string {
    return "FiberError";
  }

  // An own field: JavaScriptCore takes the first line of a stack from no other.
  /** "FiberError", also in minified code. */
  override readonly name = "FiberError";

  constructor(
    /** What is wrong, for programs. */
    readonly code: FiberErrorCode,
    message: string,
    options: { fiber?: string; cause?: unknown } = {},
  ) {
    super(message, options); // of which the platform takes the cause
    if (!SCRIPT_TAG) this.help = linkTo(code);
    if (options.fiber !== undefined) this.fiber = options.fiber;
  }

  /** The name of the fiber concerned, if there is one. */
  readonly fiber?: string;

  /** A link to what the code means and what helps, which consoles show. The script tag leaves it out. */
  readonly help?: string;
}

/** instanceof, for any value. A revoked Proxy may be thrown like anything else, and throws when it is asked. */
export function isA<T>(value: unknown, kind: new (...args: any[]) => T): value is T {
  try {
    return value instanceof kind;
  } catch {
    return false;
  }
}

/** Returns an error's text, for use inside a message of ours. */
export function words(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "a value without a description";
  }
}
