// What JavaScriptCore (Safari, Bun) does otherwise than other engines.
//
// It calls the function of a Suspending import first, and looks afterwards whether frames of JavaScript keep the stack
// from being suspended. Where they do it throws, when the fiber has begun to wait and the core has named another. So
// there the calls of JavaScript are counted, and a Suspending import below one is refused before it has done anything,
// as elsewhere.
//
// And it cannot suspend a stack on which one instance has called another by a tail call: trampolines make plain calls
// there (generate in module.ts).

import { isA } from "../errors.js";
import { WebAssembly } from "../platform.js";

let here: boolean | undefined;

/** Whether this engine is JavaScriptCore, where alone a Suspending is a function. */
export function isJavaScriptCore(): boolean {
  return (here ??= typeof new WebAssembly.Suspending(() => {}) === "function");
}

let below = 0; // calls of JavaScript on the stack that runs

/**
 * A function that a guest calls, such that it is known what lies below it. What is no JavaScript stays itself: a
 * function of an instance, which has a number for its name, or a Suspending.
 */
export function counted<T>(fn: T): T {
  if (!isJavaScriptCore() || typeof fn !== "function" || isNative(fn, /^\d+$/) || isSuspending(fn)) return fn;
  return ((...args: unknown[]) => inJavaScript(() => fn(...args))) as T;
}

/** Calls `fn`, which may call a guest: what JavaScript does by itself while a guest's stack runs. */
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

function isNative(fn: Function, name: RegExp): boolean {
  return name.test(fn.name) && /\[native code\]/.test(Function.prototype.toString.call(fn));
}

/**
 * The platform's Suspending import of a function.
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

/** Calls what begins a stack of its own, on which there is no JavaScript yet. */
export function onNewStack<T>(fn: () => T): T {
  const before = below;
  below = 0;
  try {
    return fn();
  } finally {
    below = before;
  }
}
