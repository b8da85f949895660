// Questions about values that a caller has passed: objects from any window, with any behaviour when inspected.

import { FiberError } from "./errors.js";
import { WebAssembly } from "./platform.js";

export function isObject(value: unknown): value is Record<string, any> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** For any Promise: the user's may have a `then` of its own, which may call back at once, or throw. */
export const { then } = Promise.prototype;

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof (value as PromiseLike<unknown>).then === "function";
}

/**
 * Returns the bytes of a buffer or a view, shared with the caller; undefined for any other value. Throws if they are
 * detached, or if the view is out of the bounds of a buffer that has been resized.
 */
export function viewOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    (value as { at?(): unknown }).at?.(); // throws for such a view, which otherwise looks like an empty one
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return isBuffer(value) ? new Uint8Array(value) : undefined;
}

/**
 * Whether a value is an object of a platform class. Unlike instanceof, accepts one from another window, and refuses one
 * that only has the prototype. `getter` is a getter of the class: it throws for any other object.
 */
export function has(platform: { prototype: object }, getter: string, value: unknown): boolean {
  try {
    Reflect.get(platform.prototype, getter, value);
    return true;
  } catch {
    return false;
  }
}

// Most values that come by here are functions, which need not cost an exception; the script tag has looked already.

/** Whether a value is a table, from any window. */
export const isTable = (value: unknown): value is WebAssembly.Table =>
  (SCRIPT_TAG || typeof value === "object") && has(WebAssembly.Table, "length", value);

/** Whether a value is a global, from any window. */
export const isGlobal = (value: unknown): value is WebAssembly.Global =>
  (SCRIPT_TAG || typeof value === "object") && has(WebAssembly.Global, "value", value);

/** Whether a value is a memory, from any window. */
export const isMemory = (value: unknown): value is WebAssembly.Memory =>
  (SCRIPT_TAG || typeof value === "object") && has(WebAssembly.Memory, "buffer", value);

/** Whether a value is a tag, from any window. A tag has no getter that would tell. */
export const isTag = (value: unknown): value is object =>
  Object.prototype.toString.call(value) === "[object WebAssembly.Tag]";

/** Whether a value is a module, from any window. */
export function isModule(value: unknown): value is WebAssembly.Module {
  try {
    WebAssembly.Module.customSections(value as WebAssembly.Module, "");
    return true;
  } catch {
    return false;
  }
}

function isBuffer(value: any): value is ArrayBuffer {
  try {
    // The name first: arguments of calls come by here, and what is not a buffer must not cost an exception.
    const name = value[Symbol.toStringTag] as string;
    return /^(Shared)?ArrayBuffer$/.test(name) && has(Reflect.get(globalThis, name), "byteLength", value);
  } catch {
    return false;
  }
}

/** Whether the bytes of a value have been transferred to another owner. */
export function detached(value: unknown): boolean {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  return isBuffer(buffer) && buffer.detached;
}

/** Describes a value in words. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return typeof value;
  if (detached(value)) return "bytes whose ArrayBuffer is detached";
  try {
    return `an object of type ${value.constructor?.name ?? "unknown"}`;
  } catch {
    return "an object that cannot be looked at";
  }
}

/** Returns a number as it is, the beginning of a string in quotes, anything else in words. */
export const shown = (value: unknown): string =>
  typeof value === "number"
    ? String(value)
    : typeof value === "string"
      ? JSON.stringify(value.slice(0, 80))
      : describe(value);

/** The error for an argument that is not what is expected. */
export const wrong = (expected: string, got: unknown): FiberError =>
  new FiberError("bad-argument", `${expected}, got ${shown(got)}`);
