// The list of fibers, as the user sees it.

import { liveFibers } from "../turn/turn.js";
import { Fiber } from "./fiber.js";

/** Milliseconds since a fiber has entered its state. */
const age = (fiber: Fiber): number => Math.round(performance.now() - fiber.since);

// console.table shows own properties only. A fiber gets them when it is listed, not when it is made.
const columns: PropertyDescriptorMap = {};
if (!SCRIPT_TAG) {
  for (const name of ["name", "state", "waitsFor"])
    columns[name] = { ...Object.getOwnPropertyDescriptor(Fiber.prototype, name), enumerable: true };
  columns["ms"] = {
    get(this: Fiber) {
      return age(this);
    },
    enumerable: true,
    configurable: true,
  };
}

/**
 * Returns all fibers that have not ended, in no particular order. console.table shows their names, states, what they
 * wait for, and for how many milliseconds they have been in that state.
 */
export function fibers(): Fiber<any>[] {
  const list = liveFibers();
  if (!SCRIPT_TAG) for (const fiber of list) if (Object.isExtensible(fiber)) Object.defineProperties(fiber, columns);
  return list;
}

if (!SCRIPT_TAG) {
  // What Node, Deno and Bun print of a fiber.
  Object.defineProperty(Fiber.prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value(this: Fiber, _depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
      const { name, state, waitsFor } = this;
      const shown = { name, state, ...(waitsFor !== undefined && { waitsFor }), ms: age(this) };
      return `Fiber ${inspect(shown, options)}`;
    },
    configurable: true,
    writable: true,
  });
}
