// How JavaScriptCore (Safari, Bun) differs from other engines.
//
// It calls the function of a Suspending import first, and only then checks whether frames of JavaScript keep the stack
// from being suspended. If they do, it throws, though the fiber has begun to wait and the core has named another. So in
// this engine calls of JavaScript are counted, and a Suspending import below one is refused before it has done
// anything, as elsewhere.
//
// It also cannot suspend a stack on which one instance has called another by a tail call: trampolines make plain calls
// there (generate in module.ts).

import { isA } from "../errors.js";
import { WebAssembly } from "../platform.js";

let here: boolean | undefined;

/** Whether this engine is JavaScriptCore, the only one where a Suspending is a function. */
export function isJavaScriptCore(): boolean {
  return (here ??= "Suspending" in WebAssembly && typeof new WebAssembly.Suspending(() => {}) === "function");
}

let below = 0; // calls of JavaScript on the running stack

/**
 * Wraps a function that a guest calls, so that it is counted. Returns anything else unchanged: a function of an
 * instance, whose name is a number, or a Suspending.
 */
export function counted<T>(fn: T): T {
  if (!isJavaScriptCore() || typeof fn !== "function" || isNative(fn, /^\d+$/) || isSuspending(fn)) return fn;
  return ((...args: unknown[]) => inJavaScript(() => fn(...args))) as T;
}

/**
 * Calls `fn`, which may call a guest, and counts the call. For code that JavaScript runs by itself while a guest's
 * stack runs.
 */
export function inJavaScript<T>(fn: () => T): T {
  below++;
  try {
    return fn();
  } finally {
    below--;
  }
}

/** Whether a value is a WebAssembly.Suspending of the platform. */
export function isSuspending(value: unknown): boolean {
  return isJavaScriptCore()
    ? typeof value === "function" && isNative(value, /^WebAssembly\.Suspending$/)
    : isA(value, WebAssembly.Suspending);
}

/** Whether it is a function of the platform with such a name. */
export function isNative(fn: Function, name: RegExp): boolean {
  return name.test(fn.name) && /\[native code\]/.test(Function.prototype.toString.call(fn));
}

/**
 * Returns the platform's Suspending import of a function.
 *
 * @internal (TypeScript's own types do not know WebAssembly.Suspending, so the published ones must not)
 */
export function suspendingImport(fn: (...args: any[]) => unknown): WebAssembly.Suspending {
  if (!isJavaScriptCore()) return new WebAssembly.Suspending(fn);
  return new WebAssembly.Suspending((...args: unknown[]) => {
    if (below > 0) throw new WebAssembly.SuspendError("trying to suspend JavaScript frames");
    return fn(...args);
  });
}

/** Calls a function that begins a stack of its own, on which there is no JavaScript yet. */
export function onNewStack<T>(fn: () => T): T {
  const before = below;
  below = 0;
  try {
    return fn();
  } finally {
    below = before;
  }
}
