// What the rewriter has made of modules: of guests, and of those that fiberfill generates for them. Each is rewritten
// and compiled once: that takes longer than all else that an instance needs.

import { shared } from "../lower/driver.js";
import { link } from "../lower/link.js";
import { lower, waitsOf } from "../lower/rewriter.js";
import { mayHaveTags } from "../lower/sections.js";
import { WebAssembly } from "../platform.js";
import { tell } from "../turn/tell.js";
import type { Bare } from "./substrate.js";

// Of guests, keyed by which of their imports may be left, and the modules in which these imports wait.
const cache = new WeakMap<WebAssembly.Module, Map<string, WebAssembly.Module>>();

const known = (module: WebAssembly.Module, key: string) => cache.get(module)?.get(key);

function keep(module: WebAssembly.Module, key: string, made: WebAssembly.Module): WebAssembly.Module {
  let all = cache.get(module);
  if (!all) cache.set(module, (all = new Map()));
  all.set(key, made);
  return made;
}

/** Rewrites a guest so that code can be left that reaches imports that `waits` names or that can be left themselves. */
export function guestModule(
  module: WebAssembly.Module,
  shape: Bare,
  functions: readonly unknown[],
  waits: (fn: unknown) => boolean,
): WebAssembly.Module {
  const marks = marksOf(functions, waits);
  const key = marks.join();
  return known(module, key) ?? keep(module, key, new WebAssembly.Module(...rewrite(shape, marks)));
}

/** The same. It compiles in the background: some engines refuse to compile a large module synchronously in a page. */
export async function guestModuleLater(
  module: WebAssembly.Module,
  shape: Bare,
  functions: readonly unknown[],
  waits: (fn: unknown) => boolean,
): Promise<WebAssembly.Module> {
  const marks = marksOf(functions, waits);
  const key = marks.join();
  return known(module, key) ?? keep(module, key, await WebAssembly.compile(...rewrite(shape, marks)));
}

/**
 * Marks the imports that can be left: those that wait, and functions of rewritten instances. Only code that can reach
 * them is changed.
 */
function marksOf(functions: readonly unknown[], waits: (fn: unknown) => boolean): Uint8Array {
  const { lowered } = shared();
  return Uint8Array.from(functions, (fn) => (waits(fn) || lowered.has(Object(fn)) ? 1 : 0));
}

/** Returns what the platform is to compile, with the options that it was compiled with before. */
function rewrite({ bytes, options }: Bare, marks: Uint8Array): [BufferSource, ...any[]] {
  warn(bytes!);
  return [(lower(bytes!, true, marks) ?? bytes!) as BufferSource, options];
}

let warned = false;

/** Says once that Bun 1.2 does not bear a guest's exceptions, unless its optimising compiler is off. */
function warn(bytes: Uint8Array): void {
  if (SCRIPT_TAG || warned) return;
  const { versions, env } = (globalThis as { process?: Record<string, Record<string, string>> }).process ?? {};
  if (!versions?.["bun"]?.startsWith("1.2.") || env?.["BUN_JSC_useOMGJIT"] === "0" || !mayHaveTags(bytes)) return;
  warned = true;
  tell("strays");
}

/** The module in which imports of a module without stubs wait. */
export function waitsModule(module: WebAssembly.Module, { header }: Bare, marks: Uint8Array): WebAssembly.Module {
  const key = `waits ${marks.join()}`;
  return known(module, key) ?? keep(module, key, new WebAssembly.Module(waitsOf(header, marks) as BufferSource));
}

// Of those that fiberfill generates, by their bytes: another instance of a guest, and another guest of its shape, needs
// the same between itself and its imports.
const generated = new Map<string, WebAssembly.Module>();
const KEPT = 64; // modules, of some kilobytes each

/** Rewrites a module that fiberfill has generated. */
export function generatedModule(bytes: Uint8Array): WebAssembly.Module {
  const key = new TextDecoder("latin1").decode(bytes);
  let module = generated.get(key);
  if (!module) {
    module = new WebAssembly.Module((lower(bytes, true, undefined, true) ?? bytes) as BufferSource);
    if (generated.size === KEPT) generated.clear();
    generated.set(key, module);
  }
  return module;
}

/** Instantiates what has been rewritten. */
export function linked(rewritten: WebAssembly.Module, given: unknown): WebAssembly.Instance {
  const [imports, made] = link(rewritten, given);
  const instance = new WebAssembly.Instance(rewritten, imports);
  made(instance);
  return instance;
}
