// The runtime: it turns the wheel and does what the wheel says.

import { Actor, native, type Back, type Native } from "./actor.js";
import { realClock, turn, type Clock } from "./clock.js";
import { BUDGET } from "../turn/budget.js";
import { words } from "../errors.js";
import { ActorError, refusal } from "./errors.js";
import { WebAssembly } from "../platform.js";
import { Instance, type ActorModule } from "./guest.js";
import { BAD_CLASS, BAD_MAILBOX, LATER, newWheel, NO_ACTOR, OK, type Wheel } from "./wheel.js";
import { describe, shown } from "../values.js";

/** Options of a {@link Runtime}. Each may be left out. */
export interface RuntimeOptions {
  /** realClock() by default. */
  clock?: Clock | undefined;
  /** Called with what actors log. */
  log?: ((from: number, level: number, text: string) => void) | undefined;
  /**
   * Called for each actor that has ended, with what its handler threw, if it did. If this throws, stop throws the error
   * at once; step, run and close throw it when they have done the rest.
   */
  ended?: ((id: number, error?: ActorError) => void) | undefined;
  /**
   * Starts waiting until a descriptor can be read, or written. A rejection counts as ready. The signal aborts when
   * nobody waits any more. Without this function the waits for descriptors return -1.
   */
  ready?: ((fd: number, write: boolean, signal: AbortSignal) => PromiseLike<unknown>) | undefined;
}

/** Options of one actor. Each may be left out. */
export interface SpawnOptions {
  /** Room in the mailbox, in messages; 64 by default. */
  room?: number | undefined;
  /**
   * The stack class in bytes: 32768, 65536, 131072, or 0, the default. With 0 there is no stack: blocking calls return
   * -1.
   */
  stack?: number | undefined;
}

/** What can be known of an actor from outside. */
export interface Info {
  /** Its stack class in bytes; 0: it has none. */
  stack: number;
  /** Its handler is a JavaScript function. */
  native: boolean;
  /** Its handler has stopped in a blocking call. */
  blocked: boolean;
  /** What it waits for, in words; empty if it is not blocked. */
  waitsFor: string;
  /** When its wait ends at the latest, by the runtime's clock; 0: never. */
  deadline: number;
  /** Messages in its mailbox. */
  mailbox: number;
}

/**
 * Owns actors and turns the wheel. A step has three parts. It checks for each blocked actor whether what it
 * waits for has come. It resumes the actors that the step before found ready, the earliest deadline first. And it
 * delivers one message. A step takes microtasks only: it never waits.
 */
// [E-STEP-1]
export class Runtime {
  /** @internal */
  static get name(): string {
    return "Runtime";
  }

  /** @internal */
  readonly wheel: Wheel = newWheel();
  /** @internal */
  readonly options: RuntimeOptions;
  /** @internal */
  readonly clock: Clock;
  readonly #actors = new Map<number, Actor>();
  #inStep = false;
  #inRun = false;
  #wake: (() => void) | undefined; // ends the sleep of run

  /** Makes a runtime without actors. Close it when it has served: whatever is suspended in it is dropped. */
  constructor(options: RuntimeOptions = {}) {
    this.options = options;
    this.clock = options.clock ?? realClock();
  }

  /**
   * Spawns an actor from a module, with an instance and a stack of its own, which are allocated now. Returns its
   * number. Throws an ActorError with the code "bad-class", "bad-mailbox", "no-memory", "closed", "bad-argument",
   * "bad-module" (its handler is of another type), or "trap" or "not-running" (from the start function or _initialize,
   * which run now). Handlers may call it.
   */
  spawn(module: ActorModule, { room = 64, stack = 0 }: SpawnOptions = {}): number {
    if (!(module?.module instanceof WebAssembly.Module))
      throw new ActorError("bad-argument", `spawn takes what compileActor resolves to, got ${describe(module)}`);
    const actor = new Actor(this, stack, false);
    return this.#spawn(actor, room, () => new Instance(actor, module));
  }

  /**
   * Spawns a native actor, whose handler is called on the runtime's stack. Returns its number. Throws an ActorError
   * with the code "bad-mailbox", "closed" or "bad-argument". Handlers may call it.
   */
  spawnNative(handler: Native, { room = 64 }: { room?: number | undefined } = {}): number {
    if (typeof handler !== "function")
      throw new ActorError("bad-argument", `a native actor's handler must be a function, got ${typeof handler}`);
    const actor = new Actor(this, 0, true);
    return this.#spawn(actor, room, () => native(actor.host, handler));
  }

  #spawn(actor: Actor, room: number, code: () => Actor["code"]): number {
    const { stack } = actor;
    if (!Number.isInteger(stack) || stack < 0 || stack > 2 ** 31 - 1) throw refusal(BAD_CLASS);
    if (!Number.isInteger(room) || room < 1 || room > 2 ** 31 - 1) throw refusal(BAD_MAILBOX);
    const id = this.wheel.spawn(stack, actor.native, room);
    if (id < 0) throw refusal(-id);
    actor.id = id;
    try {
      actor.code = code();
    } catch (error) {
      this.wheel.stop(id);
      throw error;
    }
    this.#actors.set(id, actor);
    return id;
  }

  /**
   * Sends a message from outside: its source is 0. Copies the payload. Throws an ActorError with the code "no-actor",
   * "mailbox-full" or "bad-argument". Nothing runs yet.
   */
  send(to: number, type: number, payload: Uint8Array | string = ""): void {
    const verdict = this.deliver(0, to, type, payload);
    if (verdict !== OK) throw refusal(verdict);
  }

  /** @internal Returns the wheel's verdict. */
  deliver(source: number, to: number, type: number, payload: Uint8Array | string): number {
    // Checked first, because the wheel counts what it has taken.
    if (!Number.isInteger(type) || type < -(2 ** 31) || type >= 2 ** 32)
      throw new ActorError("bad-argument", `a message's type must be a whole number of 32 bits, got ${shown(type)}`);
    if (typeof payload !== "string" && !(payload instanceof Uint8Array))
      throw new ActorError(
        "bad-argument",
        `a message's payload must be a Uint8Array or a string, got ${describe(payload)}`,
      );
    // Not slice: a Buffer's shares its bytes.
    const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : new Uint8Array(payload);
    const verdict = Number.isInteger(to) && to > 0 && to < 2 ** 31 ? this.wheel.send(to) : NO_ACTOR;
    if (verdict === OK) {
      this.#actors.get(to)!.put({ type: type | 0, source, payload: bytes });
      this.#wake?.();
    }
    return verdict;
  }

  /** @internal What an actor waits for, in its wait of this number, has settled. */
  settled(actor: Actor, wait: number): void {
    if (this.wheel.ready(actor.id, wait)) this.#wake?.();
  }

  /** Returns what is known of an actor; undefined if it has ended or never existed. Handlers may call it. */
  info(id: number): Info | undefined {
    const actor = this.#actors.get(id);
    if (!actor) return undefined;
    const blocked = this.wheel.blocked(id) !== 0;
    return {
      stack: actor.stack,
      native: actor.native,
      blocked,
      waitsFor: blocked ? actor.what : "",
      deadline: this.wheel.deadline(id),
      mailbox: this.wheel.mailbox(id),
    };
  }

  /** How many fibers are alive. */
  get fibers(): number {
    return this.wheel.live();
  }

  /**
   * Ends an actor and drops its messages. A blocked actor does not go on: its stack is dropped, and none of its code
   * runs. A running one ends when its handler returns or blocks. Returns whether there was such an actor. Handlers may
   * call it.
   */
  // [E-LIFE-2]
  stop(id: number): boolean {
    const actor = this.#actors.get(id);
    if (!actor) return false; // the wheel would coerce a value that is not a number
    const verdict = this.wheel.stop(id);
    if (verdict === OK) this.#end(actor);
    return verdict === OK || verdict === LATER;
  }

  #end(actor: Actor, back?: Back): void {
    this.#actors.delete(actor.id);
    actor.drop();
    const { id } = actor;
    // Even undefined can be thrown.
    this.options.ended?.(id, back && "error" in back ? trapOf(id, back.error) : undefined);
  }

  /** Stops all actors, the last spawned first. No others can be spawned. Throws while a step is under way. */
  close(): void {
    if (this.#inStep) throw new ActorError("in-step", "close was called inside a step");
    this.wheel.close();
    const thrown: unknown[] = [];
    for (let id = this.wheel.newest(); id !== 0; id = this.wheel.newest()) {
      try {
        this.stop(id);
      } catch (error) {
        thrown.push(error);
      }
    }
    this.#wake?.();
    if (thrown.length > 0) throw thrown[0];
  }

  /** Does one turn of the wheel. Resolves to whether the next one has something to do even if no time passes. */
  async step(): Promise<boolean> {
    if (this.#inRun) throw new ActorError("in-step", "step was called while run does the steps");
    return this.#step();
  }

  async #step(): Promise<boolean> {
    if (this.#inStep) throw new ActorError("in-step", "step was called inside a step");
    this.#inStep = true;
    const thrown: unknown[] = [];
    try {
      this.wheel.begin(this.clock.now());
      for (let command = this.wheel.next(); command !== 0; command = this.wheel.next()) {
        const actor = this.#actors.get(Math.abs(command))!;
        const back: Back | Promise<Back> = command > 0 ? actor.enter() : actor.resume();
        const came = back instanceof Promise ? await back : back;
        try {
          if (this.wheel.back(came.alive)) this.#end(actor, came);
        } catch (error) {
          thrown.push(error);
        }
      }
    } finally {
      this.#inStep = false;
    }
    if (thrown.length > 0) throw thrown[0];
    return this.wheel.more() !== 0;
  }

  /**
   * Steps until `until` returns true; it is asked before each step and each sleep. While no step could do anything, it
   * sleeps: to the next deadline, or until something outside is ready or sends a message. Rejects with the code "idle"
   * if nothing is left to do: there is no message, and no actor waits for anything but messages. Only one run at a
   * time, and no other step beside it.
   */
  async run(until: () => boolean): Promise<void> {
    if (typeof until !== "function")
      throw new ActorError("bad-argument", `run takes a function that says when to end, got ${describe(until)}`);
    if (this.#inRun) throw new ActorError("in-step", "run was called while another run goes on");
    this.#inRun = true;
    try {
      await this.#run(until);
    } finally {
      this.#inRun = false;
    }
  }

  async #run(until: () => boolean): Promise<void> {
    let began = performance.now();
    while (!until()) {
      await this.#step();
      if (performance.now() - began > BUDGET) {
        await turn(); // the page's turn
        began = performance.now();
      }
      // Asked again here: the page and the condition may both have sent something.
      const { clock, wheel } = this;
      if (wheel.more() !== 0 || until() || wheel.more() !== 0) continue;
      const idle = wheel.idle(clock.now(), clock.poll);
      if (idle < 0 && !this.#waitsOutside()) throw new ActorError("idle", `nothing is left to do${this.#whoWaits()}`);
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await clock.sleep(idle < 0 ? Infinity : idle, woken);
      this.#wake = undefined;
      began = performance.now();
    }
  }

  #waitsOutside(): boolean {
    for (const { outside } of this.#actors.values()) if (outside) return true;
    return false;
  }

  #whoWaits(): string {
    const list = [...this.#actors.values()]
      .filter(({ id }) => this.wheel.blocked(id))
      .map(({ id, what }) => `${id} waits for ${what}`);
    return list.length === 0 ? "" : `, and these actors are blocked: ${list.join(", ")}`;
  }
}

function trapOf(id: number, error: unknown): ActorError {
  if (error instanceof ActorError) return error;
  return new ActorError("trap", `the handler of actor ${id} trapped: ${words(error)}`, { actor: id, cause: error });
}
