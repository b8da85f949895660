// Imports without a mark are called directly, and cannot wait. If one returns a Promise where the guest expects a
// number, the engine converts the Promise, to 0 or NaN, and the guest would go on with that. A reference to the Promise
// may be just right, and nobody here knows what the guest expects. The engine knows: it asks the Promise for its value
// before anything else runs. So that is where the mistake is told. The same holds for an import with a mark that gives
// an object, such as bytes (imports.ts).
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
    if (!isThenable(result)) return;
  } catch {
    return; // a Proxy, or a getter of its own: the engine takes it as it is
  }
  queueMicrotask(
    noNumber(result, () => `import ${name} has returned a Promise, for a number; mark it by fiberfill.suspending`),
  );
}

/**
 * Makes an object throw when it is asked for its value, as the engine does where the guest expects a number. Call the
 * result when the guest has got the object. `text` says what is wrong. An object with a value of its own, and one that
 * is frozen, are left alone.
 */
export function noNumber(object: object, text: () => string): () => void {
  try {
    const throws = (): never => {
      throw new FiberError("bad-import", text());
    };
    if (
      object.valueOf === Object.prototype.valueOf &&
      Reflect.defineProperty(object, "valueOf", { value: throws, configurable: true })
    )
      return () => void Reflect.deleteProperty(object, "valueOf");
  } catch {
    // A Proxy, or a getter of its own.
  }
  return () => {};
}
