// The way in: shaped like the platform's functions of the same names.

import { bind } from "./binding.js";
import { ready } from "./loop.js";
import { compile, compileStreaming, needJSPI } from "./module.js";
import type { ImportObject } from "./suspending.js";

/** An instantiated guest. */
export interface Instantiated {
  module: WebAssembly.Module;
  /** The platform's instance: its exports are plain functions, which cannot wait. */
  instance: WebAssembly.Instance;
  /** The same exports as fibers; what is not a function is the same as in `instance.exports`. */
  exports: Record<string, any>;
}

/**
 * Instantiates a guest from its bytes, or from a module that fiberfill has
 * compiled. Takes what WebAssembly.instantiate takes; imports in the import
 * object may be marked by `suspending`. Rejects with a FiberError that says what
 * is wrong with the bytes or the imports; what the guest's start function lets
 * out reaches the caller unchanged. May be called any number of times, also with
 * one module.
 */
export async function instantiate(source: BufferSource | WebAssembly.Module, imports?: ImportObject): Promise<Instantiated> {
  needJSPI();
  const loading = ready();
  const module = source instanceof WebAssembly.Module ? source : await compile(source);
  await loading;
  return link(module, imports);
}

/** Like {@link instantiate}, from a Response or a Promise of one, while it arrives. */
export async function instantiateStreaming(source: Response | PromiseLike<Response>, imports?: ImportObject): Promise<Instantiated> {
  needJSPI();
  const loading = ready();
  const module = await compileStreaming(source);
  await loading;
  return link(module, imports);
}

async function link(module: WebAssembly.Module, imports: ImportObject | undefined): Promise<Instantiated> {
  const [instance, exports] = await bind(module, imports);
  return { module, instance, exports };
}
