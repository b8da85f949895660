// The stack of one actor: a JSPI stack that is made when the actor is spawned, handles one message after another, and
// ends with the actor. The engine never frees a suspended stack, even if nobody refers to it. So a stack that is
// dropped is resumed with a trap's error, which ends it without running any of its code, since wasm cannot catch a
// trap. [E-LIFE-2]
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

/** Throws a LinkError if the handler is of another type. Runs nothing. */
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

  /** Calls the handler. Resolves to its result, or rejects with what it throws; the stack is gone then. */
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

  /** Ends a stack that waits for a message. */
  end(): void {
    this.#returned = this.#failed = undefined;
    this.#take(0);
  }

  /** Returns the error that ends a stack that waits for anything else. */
  deadly(): unknown {
    try {
      this.#exports.trap();
    } catch (error) {
      return error;
    }
    return undefined;
  }
}
