// The exports of a guest, as the user sees them.
// Why: RATIONALE.md, "Why does asking for an unknown export throw?".

import type { Binding } from "../guest/binding.js";
import { FiberError } from "../errors.js";
import { newCall, type Fiber } from "./fiber.js";
import type { Thunk } from "../guest/call.js";
import { spawn } from "../turn/spawn.js";
import { has, wrong } from "../values.js";

/** Options of one call. */
export interface CallOptions {
  /** The fiber's name in errors and lists. By default it is the export's name and the fiber's id. */
  name?: string | undefined;
  /** Cancels the fiber with the signal's reason when the signal aborts. */
  signal?: AbortSignal | undefined;
}

/**
 * A function that a guest exports. A call makes a fiber, which starts later, and returns it at once. It never throws:
 * the fiber rejects with what is wrong with the arguments. May be called at any time, also while other calls wait.
 */
// [J-EXP-1, J-EXP-5]
export interface FiberFunction<Args extends any[] = any[], Result = any> {
  /**
   * A string or bytes stand for two parameters, address and length; they are copied to the fiber's own stack when it
   * starts, and nobody has to free them.
   */
  (...args: Args): Fiber<Result>;
  /**
   * Returns the same export with these options, for any number of calls. Throws a {@link FiberError} with the code
   * "bad-argument" if they are wrong.
   */
  with(options: CallOptions): (...args: Args) => Fiber<Result>;
}

/**
 * The exports of a guest of which TypeScript knows the type, as `instantiate` returns them: functions as
 * {@link FiberFunction}s, everything else unchanged. If the type is not known, any name and any arguments.
 */
export type FiberExports<Guest> = unknown extends Guest
  ? Record<string, any>
  : { readonly [Name in keyof Guest]: FiberExport<Guest[Name]> };

/** One export in {@link FiberExports}. */
export type FiberExport<Export> = Export extends (...args: infer Args) => infer Result
  ? FiberFunction<Args, Result>
  : Export;

/** Makes the function that the user calls. */
export function fiberFunction(binding: Binding, thunk: Thunk): FiberFunction {
  const call = (args: unknown[], name?: string, signal?: AbortSignal): Fiber<any> => {
    const made = newCall(thunk, binding, args, name);
    spawn(made, signal);
    return made.fiber;
  };
  const fn = ((...args: unknown[]) => call(args)) as FiberFunction;
  fn.with = (options) => {
    if (typeof options !== "object" || options === null) throw wrong("with takes { name, signal }", options);
    const { name, signal } = options; // read once: later calls cannot throw, whatever becomes of the object
    if (name !== undefined && typeof name !== "string") throw wrong("a fiber's name is a string", name);
    checkSignal(signal);
    return (...args) => call(args, name, signal);
  };
  return Object.defineProperty(fn, "name", { value: thunk.name });
}

export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal !== undefined && !has(AbortSignal, "aborted", signal)) throw wrong("signal is an AbortSignal", signal);
}

// What JavaScript itself reads from any object.
const asked = new Set(["then", "toJSON"]);

/** Wraps the exports, so that reading one that the guest does not have throws. */
export function strict(exports: Record<string, unknown>): Record<string, unknown> {
  return new Proxy(exports, {
    get(target, name, receiver) {
      if (typeof name === "string" && !(name in target) && !asked.has(name)) {
        throw new FiberError(
          "unknown-export",
          `the guest does not export ${JSON.stringify(name)}; ` +
            `it exports ${Object.keys(target).join(", ") || "nothing"}`,
        );
      }
      return Reflect.get(target, name, receiver);
    },
  });
}
