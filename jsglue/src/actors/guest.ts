// A wasm module as the code of actors. Every actor has an instance of its own, so that a suspended actor is in no
// other's way. Each actor has one stack that can be suspended (stack.ts). Compilers keep locals whose address is taken
// on a stack in linear memory. For this stack the actor gets a region of exactly its class when it is spawned; an actor
// of class none runs on the stack that the module brings along. A handler that has overflowed its region is ended when
// it blocks or returns. It can have harmed only its own actor.
//
// Package shadow decides where the region and the room for payloads lie, and what an overflow is.

import { CANNOT_TELL, inspector } from "../turn/core.js";
import { words } from "../errors.js";
import { compile, recall, shapeOf } from "../guest/module.js";
import type { Options } from "../guest/options.js";
import { allocate, choose, OWN, type Plan } from "../guest/stacks.js";
import { WebAssembly } from "../platform.js";
import { describe } from "../values.js";
import type { Actor, Code } from "./actor.js";
import { ActorError } from "./errors.js";
import type { Host, Message } from "./host.js";
import { imports } from "./imports.js";
import { check, instantiate, Stack } from "./stack.js";
import { substrateOf } from "../substrate/choose.js";
import { deadly } from "../substrate/jspi.js";
import type { Substrate } from "../substrate/substrate.js";

/**
 * A further function that guests may import from "env". If it returns a Promise, the actor is blocked until that
 * settles; an actor without a stack gets -1. A function that blocks by calling the host must do all its waiting that
 * way, with {@link Host.wait} for Promises: between those calls the actor runs, and no other actor does.
 */
export type Import = (host: Host, ...args: any[]) => unknown;

/** A compiled module, from which any number of actors can be made. Made by {@link compileActor}. */
export interface ActorModule {
  /** The compiled module. */
  readonly module: WebAssembly.Module;
  /** The further imports that it was compiled with. */
  readonly imports: Record<string, Import>;
}

/**
 * Compiles a module whose instances are actors. It exports handle_message(type i32, source i64, payload i32, size i32)
 * -> i32, and imports mk_ functions, and those given here, from "env". Where the engine has no JSPI, or `stacks` asks
 * for it, the module is rewritten so that its handler can be left, as `instantiate` does. Rejects with a FiberError if
 * the source is not a module or if the engine has no stacks that can wait, and with an ActorError if the module is not
 * an actor: code "bad-module", "missing-import" or "bad-argument".
 */
export async function compileActor(
  source: BufferSource,
  options: { imports?: Record<string, Import>; stacks?: Options["stacks"] } = {},
): Promise<ActorModule> {
  const module = await compile(source, options);
  const more = options.imports ?? {};
  for (const [name, fn] of Object.entries(more)) {
    if (typeof fn !== "function")
      throw new ActorError("bad-argument", `the import env.${name} must be a function, got ${describe(fn)}`);
  }
  if (!WebAssembly.Module.exports(module).some(({ name, kind }) => name === "handle_message" && kind === "function")) {
    throw new ActorError("bad-module", "the module exports no function handle_message(i32, i64, i32, i32) -> i32");
  }
  const missing = WebAssembly.Module.imports(module).filter(
    ({ module, name, kind }) =>
      module !== "env" || kind !== "function" || !(name in imports || Object.hasOwn(more, name)),
  );
  if (missing.length > 0) {
    const list = missing.map(({ module, name, kind }) => `${module}.${name} (${kind})`).join(", ");
    throw new ActorError("missing-import", `the module imports what nobody provides: ${list}`);
  }
  substrates.set(module, await substrateOf(options, shapeOf(module)));
  return { module, imports: more };
}

/** What holds the stacks of a module's actors. */
const substrates = new WeakMap<WebAssembly.Module, Substrate>();

// As in package shadow.
const GUARD = 64; // bytes
const GUARD_WORD = 0x0f1be4f1;
const PAGE = 65536;

/** By module: where stacks and payloads lie, or why there is no room for them. */
const plans = new WeakMap<WebAssembly.Module, Plan | Error>();

function planOf(module: WebAssembly.Module): Plan | Error {
  let plan = plans.get(module);
  if (plan) return plan;
  const shape = shapeOf(module);
  const core = inspector();
  recall(core, shape);
  // Payloads need room, too, even if nothing is known of the stack.
  const pointer = Math.max(-1, shape.stackPointer);
  try {
    plan = choose(core, pointer, shape.growth, OWN, -1, {});
  } catch (error) {
    plan = error as Error;
  }
  plans.set(module, plan);
  return plan;
}

type Exports = {
  handle_message(type: number, source: bigint, payload: number, size: number): number;
  free?: (at: number) => void;
  _initialize?: () => void;
};

/** Modules whose handler has the right type. */
const linked = new WeakSet<WebAssembly.Module>();

/** The instance of one actor. */
export class Instance implements Code {
  readonly #exports: Exports;
  readonly #memory: WebAssembly.Memory | undefined;
  readonly #pointer: WebAssembly.Global | undefined;
  readonly #plan: Plan | Error;
  readonly #malloc: { readonly name: string; readonly fn: Function } | undefined;
  readonly #stack: Stack | undefined;
  #high = 0; // the stack begins here and grows down
  #low = 0; // the region begins here, with the guard; 0: none
  #buffer = 0; // for payloads
  #capacity = 0;
  /** Why the actor must end, even if its code catches the exception that says so. */
  #death: ActorError | undefined;

  constructor(
    readonly actor: Actor,
    { module, imports: more }: ActorModule,
  ) {
    const shape = shapeOf(module);
    const substrate = substrates.get(module)!;
    const functions = WebAssembly.Module.imports(module).map(({ name }) => {
      const own = imports[name];
      return own
        ? this.#function(own.call, own.blocks, substrate)
        : this.#function((_, ...args) => more[name]!(actor.host, ...args), true, substrate);
    });
    const on = actor.stack !== 0 ? substrate : undefined;
    const exports = (this.#exports = this.#do(() => instantiate(on, module, shape, functions).exports) as Exports);
    const list = WebAssembly.Module.exports(module);
    const exported = (k: number): unknown => (k < 0 ? undefined : (exports as Record<string, unknown>)[list[k]!.name]);
    this.#memory = exported(shape.memory) as WebAssembly.Memory | undefined;
    this.#pointer = exported(shape.stackPointer) as WebAssembly.Global | undefined;
    const plan = (this.#plan = planOf(module));
    if (!(plan instanceof Error) && plan.source === "allocator")
      this.#malloc = { name: list[plan.malloc]!.name, fn: exported(plan.malloc) as Function };
    this.#high = this.#pointer ? (this.#pointer.value as number) >>> 0 : 0;
    if (exports._initialize) this.#do(exports._initialize);
    if (actor.stack !== 0) this.#region(actor.stack, shape.stackPointer);
    try {
      if (actor.stack !== 0) this.#stack = new Stack(exports.handle_message, substrate);
      else if (!linked.has(module)) check(exports.handle_message);
      linked.add(module);
    } catch (error) {
      throw new ActorError("bad-module", "handle_message is not of the type (i32, i64, i32, i32) -> i32", {
        actor: actor.id,
        cause: error,
      });
    }
  }

  /** Wraps an import for this instance. */
  #function(call: (guest: Instance, ...args: any[]) => unknown, blocks: boolean, substrate: Substrate): unknown {
    const { actor } = this;
    const fn = (...args: unknown[]): unknown => {
      if (this.#death) throw this.#death;
      try {
        if (actor.runtime.wheel.running() !== actor.id)
          throw new ActorError(
            "not-running",
            `an import of actor ${actor.id} was called while its handler was not running`,
            { actor: actor.id },
          );
        if (!blocks) return call(this, ...args);
        this.#check(true);
        const result = call(this, ...args);
        return this.#isPromise(result) ? this.#wait(result) : result;
      } catch (error) {
        if (error instanceof ActorError) this.#death = error;
        throw error;
      }
    };
    if (!blocks || actor.stack === 0) return fn;
    return substrate.waits((...args) => {
      const result = fn(...args);
      return this.#isPromise(result) ? this.#stack!.wait(result, () => actor.over) : result;
    });
  }

  #isPromise(value: unknown): value is PromiseLike<unknown> {
    return typeof value === "object" && value !== null && "then" in value;
  }

  /** Makes the actor wait for a Promise, which one of its host's blocking calls has returned, or for any other. */
  #wait(promise: PromiseLike<unknown>): unknown {
    const { runtime, host, id } = this.actor;
    if (runtime.wheel.blocked(id)) {
      // The import has handled the parked Promise, and may have caught the error that ends the actor.
      const check = (): void => {
        if (this.actor.over) throw deadly();
      };
      return Promise.resolve(promise).finally(check);
    }
    const parked = host.wait("a Promise", promise);
    return typeof parked === "number" ? parked : parked.then(() => promise);
  }

  /** Runs code of the guest outside of its handler. */
  #do<T>(code: () => T): T {
    try {
      return code();
    } catch (error) {
      if (error instanceof ActorError) throw error;
      throw new ActorError("trap", `the module trapped while it was instantiated: ${words(error)}`, {
        actor: this.actor.id,
        cause: error,
      });
    }
  }

  /** Gives the actor its region, if the guest keeps a stack in memory. [E-SPAWN-2] */
  #region(size: number, pointer: number): void {
    if (pointer === CANNOT_TELL) {
      throw new ActorError(
        "no-memory",
        "the guest seems to keep a stack in memory, but it is not clear which global points to it; " +
          "export that global as __stack_pointer",
      );
    }
    if (!this.#pointer) return;
    this.#low = ((this.#room(GUARD + size + 16) + 15) & ~15) >>> 0;
    this.#high = this.#low + GUARD + size;
    const view = this.view();
    for (let at = this.#low; at < this.#low + GUARD; at += 4) view.setInt32(at, GUARD_WORD, true);
  }

  /** Allocates `size` bytes and returns their address. */
  #room(size: number): number {
    const memory = this.#memory;
    const plan = this.#plan;
    const fail = (why: string): ActorError =>
      new ActorError("no-memory", `no room for ${size} bytes in the guest's memory: ${why}`, { actor: this.actor.id });
    if (!memory) throw fail("it has none");
    if (plan instanceof Error) throw fail(plan.message);
    if (this.#malloc) {
      const { fn } = this.#malloc;
      const at = this.#do(() => allocate(fn, plan, size)) >>> 0;
      if (at === 0 || at + size > memory.buffer.byteLength) throw fail(`its malloc has returned ${at}`);
      return at;
    }
    try {
      return memory.grow(Math.ceil(size / PAGE)) * PAGE;
    } catch {
      throw fail("it cannot grow");
    }
  }

  handle({ type, source, payload }: Message): boolean | Promise<boolean> {
    if (this.#pointer) this.#pointer.value = this.#high | 0;
    const at = payload.length > 0 ? this.#place(payload) : 0;
    if (!this.#stack) return this.#ended(this.#exports.handle_message(type, BigInt(source), at, payload.length));
    return this.#stack.call(type, BigInt(source), at, payload.length).then((result) => this.#ended(result));
  }

  end(): void {
    this.#stack?.end();
  }

  #ended(result: number): boolean {
    this.#check(false);
    if (this.#death) throw this.#death;
    return result !== 0;
  }

  /** Copies a payload to where the handler finds it until it returns. No other call of the handler is under way. */
  #place(payload: Uint8Array): number {
    if (payload.length > this.#capacity) {
      if (this.#buffer !== 0 && this.#malloc?.name === "malloc") this.#exports.free?.(this.#buffer);
      const capacity = Math.max(payload.length, 2 * this.#capacity, 256);
      this.#buffer = this.#room(capacity);
      this.#capacity = capacity;
    }
    this.bytes().set(payload, this.#buffer);
    return this.#buffer;
  }

  /** Throws if the handler has written below its stack, or if it blocks now and its stack pointer lies there. */
  #check(now: boolean): void {
    const low = this.#low;
    if (low === 0) return;
    const view = this.view();
    const pointer = (this.#pointer!.value as number) >>> 0;
    let over = now && pointer < low && !(this.#plan as Plan).wanders;
    for (let at = low; at < low + GUARD; at += 4) over ||= view.getInt32(at, true) !== GUARD_WORD;
    if (!over) return;
    throw new ActorError(
      "stack-overflow",
      `actor ${this.actor.id} has used more stack than the ${this.actor.stack} bytes of its class`,
      { actor: this.actor.id },
    );
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#memory!.buffer);
  }

  view(): DataView {
    return new DataView(this.#memory!.buffer);
  }

  /** A view of the guest's memory. Throws if it would reach outside. */
  piece(name: string, at: number, size: number): Uint8Array {
    const [from, length] = [at >>> 0, size >>> 0];
    if (length === 0) return new Uint8Array();
    if (!this.#memory || from + length > this.#memory.buffer.byteLength) {
      throw new ActorError(
        "bad-address",
        `import env.${name} was given ${length} bytes at ${from}, outside the memory`,
        { actor: this.actor.id },
      );
    }
    return new Uint8Array(this.#memory.buffer, from, length);
  }
}
