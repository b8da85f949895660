// One actor: what the wheel does not know of it.

import { ActorError } from "./errors.js";
import { Host, type Message } from "./host.js";
import type { Runtime } from "./runtime.js";

/** Control is back in the runtime: the actor has parked, or its handler has ended. */
export interface Back {
  alive: boolean; // counts if it has not parked
  error?: unknown; // what the handler threw
}

/** The code of an actor. */
export interface Code {
  /** Handles a message; resolves, or returns, whether the actor stays alive. What is thrown is a trap. */
  handle(message: Message): boolean | Promise<boolean>;
  /** The actor is over and parked nowhere: its stack, if it has one, is given back. */
  end?(): void;
  /** What ends a stack that is parked, without any of its code. */
  deadly?(): unknown;
}

export class Actor {
  readonly host: Host = new Host(this);
  #mailbox: (Message | undefined)[] = [];
  #taken = 0; // so many of them from the first on
  id = 0;
  code: Code | undefined;
  what = ""; // what it waits for, in words
  outside: AbortController | undefined; // while it waits for something outside
  #back: ((back: Back) => void) | undefined;
  #wake: (() => void) | undefined; // while it is parked
  #kill: ((error: unknown) => void) | undefined;
  over = false;

  constructor(
    readonly runtime: Runtime,
    readonly stack: number,
    readonly native: boolean,
  ) {}

  put(message: Message): void {
    this.#mailbox.push(message);
  }

  /**
   * Removes the oldest message, at the wheel's command. The others move up when half of the list is empty, and not each
   * time: a mailbox may have a hundred thousand of them.
   */
  take(): Message {
    const mailbox = this.#mailbox;
    const message = mailbox[this.#taken]!;
    mailbox[this.#taken] = undefined;
    if (2 * ++this.#taken >= mailbox.length) {
      mailbox.splice(0, this.#taken);
      this.#taken = 0;
    }
    return message;
  }

  /** Calls the handler. */
  enter(): Back | Promise<Back> {
    const back = this.#whenBack(); // it may park inside this call
    try {
      const alive = this.code!.handle(this.take());
      if (typeof alive === "boolean") return { alive };
      alive.then(
        (alive) => this.#back!({ alive }),
        (error) => this.#back!({ alive: false, error }),
      );
      return back;
    } catch (error) {
      return { alive: false, error };
    }
  }

  /** Gives control back in the middle of the handler. Resolves when the runtime resumes the actor. */
  park(what: string): Promise<number> {
    this.what = what;
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(this.runtime.wheel.result(this.id));
      this.#kill = reject;
      this.#back!({ alive: true });
    });
  }

  resume(): Promise<Back> {
    this.endWait();
    const back = this.#whenBack();
    this.#kill = undefined;
    this.#wake!();
    return back;
  }

  #whenBack(): Promise<Back> {
    return new Promise((resolve) => {
      this.#back = resolve;
    });
  }

  /** What it has waited for outside is of no interest any more. */
  endWait(): void {
    this.outside?.abort();
    this.outside = undefined;
  }

  /** Lets go of all that it holds. Its handler, if it is parked, is ended where it stands. */
  drop(): void {
    this.over = true;
    this.endWait();
    this.#mailbox = [];
    this.#taken = 0;
    if (this.#kill) this.#kill(this.code!.deadly!());
    else this.code!.end?.();
    this.code = undefined;
  }
}

/**
 * The code of a native actor, which cannot block. Returns whether the actor stays alive. What it throws ends the actor.
 */
export type Native = (host: Host, message: Message) => boolean;

/** A native actor's code. */
export function native(host: Host, handler: Native): Code {
  return {
    handle(message) {
      const alive: unknown = handler(host, message);
      if (typeof alive !== "boolean") {
        throw new ActorError(
          "bad-argument",
          `the handler of a native actor returns whether it stays alive, true or false, and cannot wait; actor ${host.self} has returned ${typeof alive}`,
          { actor: host.self },
        );
      }
      return alive;
    },
  };
}
