// One actor: what the wheel does not know of it.

import { ActorError } from "./errors.js";
import { Host, type Message } from "./host.js";
import type { Runtime } from "./runtime.js";
import { deadly } from "../substrate/jspi.js";

/** Says that control is back in the runtime: the actor has parked, or its handler has ended. */
export interface Back {
  alive: boolean; // ignored if it has parked
  error?: unknown; // what the handler threw
}

/** The code of an actor. */
export interface Code {
  /** Handles a message. Returns, or resolves to, whether the actor stays alive. Whatever it throws is a trap. */
  handle(message: Message): boolean | Promise<boolean>;
  /** The actor has ended and is not parked: gives back its stack, if it has one. */
  end?(): void;
}

export class Actor {
  readonly host: Host = new Host(this);
  #mailbox: (Message | undefined)[] = [];
  #taken = 0; // how many messages have been taken from the front
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
   * Removes the oldest message, at the wheel's command. The others move up only when half of the list is empty: a
   * mailbox may hold a hundred thousand messages.
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
    const back = this.#whenBack(); // before the call, in which the actor may park
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

  /**
   * Gives control back in the middle of the handler. Resolves to the wait's result when the runtime resumes the actor.
   */
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

  /** Stops waiting for something outside. */
  endWait(): void {
    this.outside?.abort();
    this.outside = undefined;
  }

  /** Lets go of everything that the actor holds. A parked handler is ended where it stands. */
  drop(): void {
    this.over = true;
    this.endWait();
    this.#mailbox = [];
    this.#taken = 0;
    if (this.#kill) this.#kill(deadly());
    else this.code!.end?.();
    this.code = undefined;
  }
}

/**
 * The handler of a native actor, which cannot block. Returns whether the actor stays alive. Throwing ends the actor.
 */
export type Native = (host: Host, message: Message) => boolean;

/** Makes a native actor's handler its code. */
export function native(host: Host, handler: Native): Code {
  return {
    handle(message) {
      const alive: unknown = handler(host, message);
      if (typeof alive !== "boolean") {
        throw new ActorError(
          "bad-argument",
          `a native actor's handler must return true, to stay alive, or false, and cannot wait; ` +
            `actor ${host.self} returned ${typeof alive}`,
          { actor: host.self },
        );
      }
      return alive;
    },
  };
}
