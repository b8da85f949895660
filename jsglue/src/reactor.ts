// Loads the Go programs behind the TypeScript: the scheduler, the machine of the proposals, the rules of actors. Each
// imports nothing, and is initialised before anything else in it is called.

import { WebAssembly } from "./platform.js";

/**
 * Returns a function that makes instances of a program. The program is compiled once, synchronously, with the first
 * instance: engines compile functions when they are first called, so this takes less time than another thread would
 * take to report that it has compiled the program.
 */
export function reactor<T>(bytes: Uint8Array): () => T {
  let module: WebAssembly.Module | undefined;
  return () => {
    module ??= new WebAssembly.Module(bytes as BufferSource);
    const { exports } = new WebAssembly.Instance(module, {});
    (exports["_initialize"] as () => void)();
    return exports as unknown as T;
  };
}
