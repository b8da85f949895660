// The plan of an operation, as the core has written it to its memory (jsglue/proposals/main.go): who runs next, what is
// delivered, whose stacks end.

import type { Core } from "./systems.js";

/** What a plan delivers, if neither values nor nothing. */
export const EXCEPTION = 1;
export const QUESTION = 3;

// The words of a plan. Those from LABEL on are laid out as an event is.
const TO = 1;
const DELIVERS = 2;
const LABEL = 3;
const TYPES = 5;
const MADE = 6;
const TOKEN = 7;
const ENDS = 9;
const ENDS_LENGTH = 10;

const none = new Int32Array();

export class Plan {
  #words: Int32Array; // the core's memory
  readonly #at: number; // where the plan lies in it

  constructor(readonly core: Core) {
    this.#words = new Int32Array(core.memory.buffer);
    this.#at = core.plan() / 4;
  }

  #word(i: number): number {
    if (this.#words.length === 0) this.#words = new Int32Array(this.core.memory.buffer); // it has grown
    return this.#words[this.#at + i]!;
  }

  /** The computation that runs next. */
  get to(): number {
    return this.#word(TO);
  }

  get delivers(): number {
    return this.#word(DELIVERS);
  }

  get label(): number {
    return this.#word(LABEL);
  }

  /** The types of the values that are sent. */
  get types(): number {
    return this.#word(TYPES);
  }

  /** What the operation has made. */
  get made(): number {
    return this.#word(MADE);
  }

  /**
   * A half of the single-use reference that the operation has made: half 0 is the fiber, or 0 if there is none; half 1
   * is the number.
   */
  token(half: 0 | 1): number {
    return this.#word(TOKEN + half);
  }

  /** The core's memory, as an array of words. */
  get words(): Int32Array {
    return this.#words;
  }

  /** Where the fields of the event that arrives lie in words. */
  get event(): number {
    return this.#at + LABEL;
  }

  /** Returns the fibers whose stacks end; a second call returns none. */
  takeEnds(): Int32Array {
    const count = this.#word(ENDS_LENGTH);
    if (count === 0) return none;
    const at = this.#word(ENDS) / 4;
    this.#words[this.#at + ENDS_LENGTH] = 0;
    return this.#words.slice(at, at + count);
  }
}
