// What this module has to say when something goes wrong.

/** The stable codes of {@link ActorError}; a message may change, a code does not. */
export type ActorErrorCode =
  | "no-actor" // it is over, or never was
  | "mailbox-full"
  | "bad-class" // of stacks
  | "bad-mailbox" // less than room for one message
  | "closed" // the runtime is
  | "no-memory" // for a stack, a payload or a fiber
  | "bad-module" // exports no handle_message
  | "missing-import"
  | "bad-argument"
  | "in-step" // a step inside a step, a run beside a run
  | "not-running" // a blocking call of an actor whose handler does not run
  | "idle" // nothing is left to do
  | "trap" // the handler has trapped or thrown; cause is what
  | "stack-overflow" // the handler has used more than its class
  | "bad-address"; // an address outside the guest's memory

/**
 * `code` is stable, `actor` is whom it is about, and `cause` the engine's or the handler's own error where there is
 * one.
 */
export class ActorError extends Error {
  override readonly name = "ActorError";
  readonly actor?: number;

  constructor(
    readonly code: ActorErrorCode,
    message: string,
    options: { actor?: number; cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    if (options.actor !== undefined) this.actor = options.actor;
  }
}

const verdicts: [code: ActorErrorCode, message: string][] = [
  ["no-actor", "no such actor: it is over, or never was"],
  ["mailbox-full", "the mailbox is full"],
  ["bad-class", "not a stack class: it must be 0, 32768, 65536 or 131072"],
  ["bad-mailbox", "a mailbox must have room for one message at least"],
  ["closed", "the runtime has been closed"],
  ["no-memory", "no further fiber"],
];

/** The error for a verdict of the wheel, which is not OK. */
export function refusal(verdict: number): ActorError {
  return new ActorError(...verdicts[verdict - 1]!);
}
