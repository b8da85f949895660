// What a value is that somebody has passed: whoever has made it, and whatever it does when it is asked.

import { WebAssembly } from "./platform.js";

export function isObject(value: unknown): value is Record<string, any> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** For any Promise: one of the user's may have a `then` of its own, which may call back at once, or throw. */
export const { then } = Promise.prototype;

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof (value as PromiseLike<unknown>).then === "function";
}

/** The bytes of a value that has some, which may be shared with others. Throws if they are detached. */
export function viewOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isBuffer(value) ? new Uint8Array(value) : undefined;
}

/**
 * Whether a value is an object of a class of the platform, also one that another window has made, which instanceof
 * denies; and not one that only has the prototype. getter is one of the class: it refuses all others.
 */
export function has(platform: { prototype: object }, getter: string, value: unknown): boolean {
  try {
    Reflect.get(platform.prototype, getter, value);
    return true;
  } catch {
    return false;
  }
}

/** Whether a value is a module, whoever has made it. */
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
    // The name first: what is no buffer is not to cost an exception, since arguments of calls are asked, too.
    const name = value[Symbol.toStringTag];
    return (
      (name === "ArrayBuffer" && has(ArrayBuffer, "byteLength", value)) ||
      (name === "SharedArrayBuffer" && has(SharedArrayBuffer, "byteLength", value))
    );
  } catch {
    return false;
  }
}

/** Whether the bytes of a value have gone to another owner. */
export function detached(value: unknown): boolean {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  return isBuffer(buffer) && buffer.detached;
}

/** What a value is, in words. */
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

/** A number, or what there is in its place: a text that looks like one is none. */
export const shown = (value: unknown): string => (typeof value === "number" ? String(value) : describe(value));
