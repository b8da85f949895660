// The errors of actors.

import { linkTo } from "../errors.js";

/** The stable codes of {@link ActorError}; a message may change, a code does not. */
export type ActorErrorCode =
  | "no-actor" // it has ended, or never existed
  | "mailbox-full"
  | "bad-class" // not a stack class
  | "bad-mailbox" // less than room for one message
  | "closed" // the runtime has been closed
  | "no-memory" // for a stack, a payload or a fiber
  | "bad-module" // exports no handle_message
  | "missing-import"
  | "bad-argument"
  | "in-step" // a step inside a step, a run beside a run
  | "not-running" // a blocking call while the actor's handler does not run
  | "idle" // nothing is left to do
  | "trap" // the handler trapped or threw: see `cause`
  | "stack-overflow" // the handler used more stack than its class has
  | "bad-address"; // an address outside the guest's memory

/**
 * `code` is stable. `actor` is the actor concerned, if there is one. `cause` is the engine's or the handler's own
 * error, if there is one.
 */
export class ActorError extends Error {
  /** @internal */
  static override get name(): string {
    return "ActorError";
  }

  /** "ActorError", also in minified code. */
  override readonly name = "ActorError";

  /** The number of the actor concerned, if there is one. */
  readonly actor?: number;

  /** A link to what the code means and what helps, which consoles show. */
  readonly help: string;

  constructor(
    /** What is wrong, for programs. */
    readonly code: ActorErrorCode,
    message: string,
    options: { actor?: number; cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.help = linkTo(`actors-${code}`);
    if (options.actor !== undefined) this.actor = options.actor;
  }
}

const verdicts: [code: ActorErrorCode, message: string][] = [
  ["no-actor", "no such actor: it has ended, or never existed"],
  ["mailbox-full", "the mailbox is full"],
  ["bad-class", "not a stack class: it must be 0, 32768, 65536 or 131072"],
  ["bad-mailbox", "a mailbox must have room for at least one message"],
  ["closed", "the runtime has been closed"],
  ["no-memory", "no memory for another fiber"],
];

/** Returns the error for a verdict of the wheel other than OK. */
export function refusal(verdict: number): ActorError {
  return new ActorError(...verdicts[verdict - 1]!);
}
