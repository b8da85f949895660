// A wasm module as the code of actors. Every actor has an instance of its own, so that what is suspended in one is in
// nobody's way. What is suspended is the actor's one stack of JSPI (stack.ts). Where compilers keep locals whose
// address is taken on a stack in linear memory, the actor gets a region of exactly its class for it when it is spawned;
// one of class none runs on the stack that the module brings along. At the low end of a region lies a guard; a handler
// that has written there is ended when it blocks or returns. It can have harmed nobody but itself.
//
// The region, and room for payloads, come from the guest's malloc if it exports malloc and free; else its memory is
// grown, if nothing in the module grows it.

import { CANNOT_TELL } from "../turn/core.js";
import { words } from "../errors.js";
import { compile, shapeOf } from "../guest/module.js";
import { WebAssembly } from "../platform.js";
import { describe } from "../values.js";
import type { Actor, Code } from "./actor.js";
import { ActorError } from "./errors.js";
import type { Host, Message } from "./host.js";
import { imports } from "./imports.js";
import { link, Stack } from "./stack.js";

/**
 * A further function that guests may import from "env". If it returns a Promise the actor is blocked until that
 * settles; an actor without a stack gets -1. One that blocks by a call of the host waits for everything by the host,
 * Promises by {@link Host.wait}: between those calls the actor runs, and nobody else does.
 */
export type Import = (host: Host, ...args: any[]) => unknown;

/** A compiled module, of which any number of actors can be made. Made by {@link compileActor}. */
export interface ActorModule {
  readonly module: WebAssembly.Module;
  readonly imports: Record<string, Import>;
}

/**
 * Compiles a module whose instances are actors: it exports handle_message(type i32, source i64, payload i32, size i32)
 * -> i32 and imports mk_ functions, and those given here, from "env". Rejects with a FiberError for what is no module,
 * and in an engine without JSPI; with an ActorError with the code "bad-module", "missing-import" or "bad-argument" for
 * what is no actor.
 */
export async function compileActor(
  source: BufferSource,
  options: { imports?: Record<string, Import> } = {},
): Promise<ActorModule> {
  const module = await compile(source);
  const more = options.imports ?? {};
  for (const [name, fn] of Object.entries(more)) {
    if (typeof fn !== "function")
      throw new ActorError("bad-argument", `the import env.${name} is a function, got ${describe(fn)}`);
  }
  if (!WebAssembly.Module.exports(module).some(({ name, kind }) => name === "handle_message" && kind === "function")) {
    throw new ActorError("bad-module", "the module exports no function handle_message(i32, i64, i32, i32) -> i32");
  }
  const missing = WebAssembly.Module.imports(module).filter(
    ({ module, name, kind }) =>
      module !== "env" || kind !== "function" || !(name in imports || Object.hasOwn(more, name)),
  );
  if (missing.length > 0) {
    throw new ActorError(
      "missing-import",
      `the module imports what is not there: ${missing.map(({ module, name, kind }) => `${module}.${name} (${kind})`).join(", ")}`,
    );
  }
  return { module, imports: more };
}

const GUARD = 128; // bytes, below the region
const GUARD_WORD = 0x0f1be4f1;
const PAGE = 65536;

type Exports = {
  handle_message(type: number, source: bigint, payload: number, size: number): number;
  malloc?: (size: number) => number;
  free?: (at: number) => void;
  _initialize?: () => void;
};

/** Modules whose handler is of the right type. */
const linked = new WeakSet<WebAssembly.Module>();

/** The instance of one actor. */
export class Instance implements Code {
  readonly #exports: Exports;
  readonly #memory: WebAssembly.Memory | undefined;
  readonly #pointer: WebAssembly.Global | undefined;
  readonly #grows: boolean;
  readonly #stack: Stack | undefined;
  #high = 0; // the stack begins here and grows down
  #guard = 0; // where the guard begins; 0: no region
  #buffer = 0; // for payloads
  #capacity = 0;
  /** Why the actor must end, whatever its code makes of the exception that says so. */
  #death: ActorError | undefined;

  constructor(
    readonly actor: Actor,
    { module, imports: more }: ActorModule,
  ) {
    const shape = shapeOf(module);
    const env: Record<string, WebAssembly.ImportValue> = {};
    for (const { name } of WebAssembly.Module.imports(module)) {
      const own = imports[name];
      env[name] = own
        ? this.#function(own.call, own.blocks)
        : this.#function((_, ...args) => more[name]!(actor.host, ...args), true);
    }
    const exports = (this.#exports = this.#do(() => new WebAssembly.Instance(module, { env }).exports) as Exports);
    const list = WebAssembly.Module.exports(module);
    const exported = (k: number): unknown => (k < 0 ? undefined : (exports as Record<string, unknown>)[list[k]!.name]);
    this.#memory = exported(shape.memory) as WebAssembly.Memory | undefined;
    this.#pointer = exported(shape.stackPointer) as WebAssembly.Global | undefined;
    this.#grows = shape.grows;
    this.#high = this.#pointer ? (this.#pointer.value as number) >>> 0 : 0;
    if (exports._initialize) this.#do(exports._initialize);
    if (actor.stack !== 0) this.#region(actor.stack, shape.stackPointer);
    try {
      if (actor.stack !== 0) this.#stack = new Stack(exports.handle_message);
      else if (!linked.has(module)) link(exports.handle_message);
      linked.add(module);
    } catch (error) {
      throw new ActorError("bad-module", "handle_message is not of the type (i32, i64, i32, i32) -> i32", {
        actor: actor.id,
        cause: error,
      });
    }
  }

  /** An import as this instance gets it. */
  #function(call: (guest: Instance, ...args: any[]) => unknown, blocks: boolean): WebAssembly.ImportValue {
    const { actor } = this;
    const fn = (...args: unknown[]): unknown => {
      if (this.#death) throw this.#death;
      try {
        if (actor.runtime.wheel.running() !== actor.id)
          throw new ActorError(
            "not-running",
            `an import of actor ${actor.id} was called while its handler does not run`,
            { actor: actor.id },
          );
        if (!blocks) return call(this, ...args);
        this.#check();
        const result = call(this, ...args);
        return this.#isPromise(result) ? this.#wait(result) : result;
      } catch (error) {
        if (error instanceof ActorError) this.#death = error;
        throw error;
      }
    };
    return blocks && actor.stack !== 0 ? (new WebAssembly.Suspending(fn) as unknown as WebAssembly.ImportValue) : fn;
  }

  #isPromise(value: unknown): value is PromiseLike<unknown> {
    return typeof value === "object" && value !== null && "then" in value;
  }

  /** The actor waits for a Promise: either that of a blocking call of its host, or one of somebody else's. */
  #wait(promise: PromiseLike<unknown>): unknown {
    const { runtime, host, id } = this.actor;
    if (runtime.wheel.blocked(id)) {
      // What has parked is in somebody's hands, who may have caught what ends it.
      const check = (): void => {
        if (this.actor.over) throw this.deadly();
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

  /** Gives the actor its stack, if the guest keeps one in memory. [E-SPAWN-2] */
  #region(size: number, pointer: number): void {
    if (pointer === CANNOT_TELL) {
      throw new ActorError(
        "no-memory",
        "the guest seems to keep a stack in memory, and which global points to it is not clear; export it as __stack_pointer",
      );
    }
    if (!this.#pointer) return;
    const low = (this.#room(GUARD + size + 16) + 15) & ~15;
    this.#guard = low >>> 0;
    this.#high = this.#guard + GUARD + size;
    const view = this.view();
    for (let at = this.#guard; at < this.#guard + GUARD; at += 4) view.setInt32(at, GUARD_WORD, true);
  }

  /** The address of so many bytes. */
  #room(size: number): number {
    const { malloc, free } = this.#exports;
    const memory = this.#memory;
    const fail = (why: string): ActorError =>
      new ActorError("no-memory", `no room for ${size} bytes in the guest's memory: ${why}`, { actor: this.actor.id });
    if (!memory) throw fail("it has none");
    if (typeof malloc === "function" && typeof free === "function") {
      const at = this.#do(() => malloc(size)) >>> 0;
      if (at === 0 || at + size > memory.buffer.byteLength) throw fail(`its malloc has returned ${at}`);
      return at;
    }
    if (this.#grows) throw fail("it grows it itself, and exports no malloc and free");
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

  deadly(): unknown {
    return this.#stack!.deadly();
  }

  #ended(result: number): boolean {
    this.#check();
    if (this.#death) throw this.#death;
    return result !== 0;
  }

  /** Puts a payload where the handler finds it until it returns. No other call of it is under way. */
  #place(payload: Uint8Array): number {
    if (payload.length > this.#capacity) {
      if (this.#buffer !== 0 && this.#exports.malloc) this.#exports.free?.(this.#buffer);
      const capacity = Math.max(payload.length, 2 * this.#capacity, 256);
      this.#buffer = this.#room(capacity);
      this.#capacity = capacity;
    }
    this.bytes().set(payload, this.#buffer);
    return this.#buffer;
  }

  /** Throws if the handler has written below its stack. */
  #check(): void {
    if (this.#guard === 0) return;
    const view = this.view();
    // All of it: a function with one local writes one word in 16 bytes, and which of the four it is depends on the
    // compiler.
    for (let at = this.#guard; at < this.#guard + GUARD; at += 4) {
      if (view.getInt32(at, true) === GUARD_WORD) continue;
      throw new ActorError(
        "stack-overflow",
        `actor ${this.actor.id} has used more stack than the ${this.actor.stack} bytes of its class`,
        { actor: this.actor.id },
      );
    }
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#memory!.buffer);
  }

  view(): DataView {
    return new DataView(this.#memory!.buffer);
  }

  /** A piece of the guest's memory. Throws if that is not there. */
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
