// The stack of one actor: a stack of JSPI that is made when the actor is spawned, handles one message after the other,
// and is ended with the actor. A suspended stack that nobody refers to is never given back by the engine, so one that
// is dropped is resumed with the error of a trap: that ends it without running any of its code, since wasm cannot catch
// it. [E-LIFE-2]
// Why: RATIONALE.md, "Why has an actor one stack from its spawn to its end?".

import bytes from "../../actors/stack.wasm";
import { WebAssembly } from "../platform.js";

interface Exports {
  type: WebAssembly.Global;
  source: WebAssembly.Global;
  payload: WebAssembly.Global;
  size: WebAssembly.Global;
  actor: Function;
  trap(): void;
}

let module: WebAssembly.Module | undefined;

/** Throws a LinkError if the handler is of another type. Nothing runs. */
export function link(handle: Function, next: unknown = () => 0): Exports {
  module ??= new WebAssembly.Module(bytes as BufferSource);
  const imports = { js: { next }, guest: { handle_message: handle } } as unknown as WebAssembly.Imports;
  return new WebAssembly.Instance(module, imports).exports as unknown as Exports;
}

export class Stack {
  readonly #exports: Exports;
  #take!: (more: 0 | 1) => void;
  #returned: ((result: number) => void) | undefined; // while a handler runs
  #failed: ((error: unknown) => void) | undefined;

  /** Throws a LinkError if the handler is of another type. */
  constructor(handle: Function) {
    const next = new WebAssembly.Suspending((result: number) => {
      this.#returned?.(result);
      return new Promise((resolve) => {
        this.#take = resolve;
      });
    });
    this.#exports = link(handle, next);
    WebAssembly.promising(this.#exports.actor)().catch((error: unknown) => this.#failed?.(error));
  }

  /** Has the handler called. Resolves to what it returns, or rejects with what it lets out; then the stack is gone. */
  call(type: number, source: bigint, payload: number, size: number): Promise<number> {
    const to = this.#exports;
    to.type.value = type;
    to.source.value = source;
    to.payload.value = payload;
    to.size.value = size;
    return new Promise((resolve, reject) => {
      this.#returned = resolve;
      this.#failed = reject;
      this.#take(1);
    });
  }

  /** Ends the stack, if it waits for a message. */
  end(): void {
    this.#returned = this.#failed = undefined;
    this.#take(0);
  }

  /** The error that ends a stack that waits for something else. */
  deadly(): unknown {
    try {
      this.#exports.trap();
    } catch (error) {
      return error;
    }
    return undefined;
  }
}
