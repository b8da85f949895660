// The stack of one actor: it begins when the actor is spawned, handles one message after another, and ends with the
// actor. A substrate holds it (src/substrate), as it holds a fiber's. A stack that is dropped while its handler waits
// ends without running any of its code. [E-LIFE-2]
// Why: RATIONALE.md, "Why has an actor one stack from its spawn to its end?".

import bytes from "../../actors/stack.wasm";
import { WebAssembly } from "../platform.js";
import type { Bare, Runner, Stack as Held, Substrate } from "../substrate/substrate.js";

interface Exports {
  type: WebAssembly.Global;
  source: WebAssembly.Global;
  payload: WebAssembly.Global;
  size: WebAssembly.Global;
  actor: Function;
}

let module: WebAssembly.Module | undefined;

const compiled = (): WebAssembly.Module => (module ??= new WebAssembly.Module(bytes as BufferSource));

/** Throws a LinkError if the handler is of another type. Runs nothing. */
export function check(handle: Function): void {
  instantiate(undefined, compiled(), { header: bytes }, [() => 0, handle]);
}

/** Instantiates a module that imports only functions. The functions that wait are the substrate's. */
export function instantiate(
  substrate: Substrate | undefined,
  module: WebAssembly.Module,
  shape: Bare,
  functions: readonly unknown[],
): WebAssembly.Instance {
  if (substrate?.bare) return substrate.bare(module, shape, functions);
  const imports: Record<string, Record<string, unknown>> = {};
  WebAssembly.Module.imports(module).forEach(({ module, name }, i) => ((imports[module] ??= {})[name] = functions[i]));
  return new WebAssembly.Instance(module, imports as unknown as WebAssembly.Imports);
}

// What the code is told when it asks for a message.
const END = 0;
const MESSAGE = 1;

export class Stack implements Runner {
  stack: Held | undefined = undefined;
  readonly job: Function;
  readonly #message: Exports;
  #answer: number | undefined; // it has not asked yet
  #idle = false; // it has asked, and waits
  #returned: ((result: number) => void) | undefined; // while a handler runs
  #failed: ((error: unknown) => void) | undefined;

  constructor(handle: Function, substrate: Substrate) {
    const next = substrate.waits((result: number) => this.#next(result));
    const { exports } = instantiate(substrate, compiled(), { header: bytes, bytes }, [next, handle]);
    this.#message = exports as unknown as Exports;
    this.job = this.#message.actor;
    substrate.begin(this);
  }

  /** The code asks for a message. */
  #next(result: number): unknown {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer !== undefined) return answer; // it had not begun
    this.#returned?.(result);
    this.#idle = true;
    return this.stack!.leave();
  }

  #tell(answer: number): void {
    if (!this.#idle) this.#answer = answer;
    else {
      this.#idle = false;
      this.stack!.goOn(answer);
    }
  }

  /** Calls the handler. Resolves to its result, or rejects with what it throws; the stack is gone then. */
  call(type: number, source: bigint, payload: number, size: number): Promise<number> {
    const to = this.#message;
    to.type.value = type;
    to.source.value = source;
    to.payload.value = payload;
    to.size.value = size;
    return new Promise((resolve, reject) => {
      this.#returned = resolve;
      this.#failed = reject;
      this.#tell(MESSAGE);
    });
  }

  /**
   * The handler waits for a Promise. Returns what its import must return. `dead` says that none of the actor's code may
   * run any more.
   */
  wait(promise: PromiseLike<unknown>, dead: () => boolean): unknown {
    const { stack } = this;
    const left = stack!.leave();
    Promise.resolve(promise).then(
      (value) => stack!.goOn(value),
      (error) => (dead() ? stack!.end() : stack!.fail(error)),
    );
    return left;
  }

  /** Ends a stack that waits for a message. */
  end(): void {
    this.#returned = this.#failed = undefined;
    this.#tell(END);
  }

  returned(): void {}

  trapped(error: unknown): void {
    this.#failed?.(error);
  }
}
