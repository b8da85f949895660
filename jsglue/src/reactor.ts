// The Go programs behind the TypeScript: the scheduler, the machine of the proposals, the rules of actors. Each imports
// nothing, and is initialised before anything else of it is called.

import { WebAssembly } from "./platform.js";

/**
 * Returns what makes instances of a program from its bytes. It is compiled once, with the first of them, at once:
 * engines compile functions when they are first called, so that this takes less time than a compilation on another
 * thread takes to report.
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
