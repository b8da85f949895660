// Imports without a mark are called directly, and cannot wait. If one returns a Promise where the guest expects a
// number, the engine converts the Promise, to 0 or NaN, and the guest would go on with that. A reference to the Promise
// may be just right, and nobody here knows what the guest expects. The engine knows: it asks the Promise for its value
// before anything else runs. So that is where the mistake is told.
// Why: RATIONALE.md, "Why is an unmarked async function refused?".

import { FiberError } from "../errors.js";
import { isNative } from "../substrate/javascriptcore.js";
import { isThenable } from "../values.js";

/**
 * Wraps an import without a mark. Returns what is no function unchanged, and the functions of instances, and those of
 * Math, which engines put into the guest's code.
 */
export function unmarked(value: any, name: string): unknown {
  if (typeof value !== "function" || isNative(value, /^\d+$/) || value === (Math as any)[value.name]) return value;
  return (...args: unknown[]) => {
    const result: unknown = value(...args);
    if (typeof result === "object") guard(result, name);
    return result;
  };
}

/** If it is a Promise, makes it throw when it is asked for its value, until the guest has got it. */
function guard(result: unknown, name: string): void {
  try {
    if (!isThenable(result) || result.valueOf !== Object.prototype.valueOf) return; // it may have a number of its own
    const throws = (): never => {
      const text = `import ${name} has returned a Promise, for a number; mark it by fiberfill.suspending`;
      throw new FiberError("bad-import", text);
    };
    if (!Reflect.defineProperty(result, "valueOf", { value: throws, configurable: true })) return; // it is frozen
    queueMicrotask(() => Reflect.deleteProperty(result, "valueOf"));
  } catch {
    // A Proxy, or a getter of its own: the engine takes it as it is.
  }
}
