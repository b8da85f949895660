// Imports without a mark are called directly, and cannot wait. If one returns a Promise where the guest expects a
// number, the engine converts the Promise, to 0 or NaN, and the guest would go on with that. Nobody here knows what the
// guest expects: a reference to the Promise may be just right. The engine knows: it asks the Promise for its value. So
// that is where the mistake is told.
// Why: RATIONALE.md, "Why is an unmarked async function refused?".

import { FiberError } from "../errors.js";
import { isNative } from "../substrate/javascriptcore.js";
import { isThenable } from "../values.js";

/**
 * Wraps an import without a mark. Returns anything else unchanged, and the functions of instances, and those of Math,
 * which engines put into the guest's code.
 */
export function unmarked(value: any, name: string): unknown {
  if (typeof value !== "function" || isNative(value, /^\d+$/) || value === (Math as any)[value.name]) return value;
  return (...args: unknown[]) => {
    const result: unknown = value(...args);
    if (typeof result === "object" && isThenable(result))
      Reflect.defineProperty(result, "valueOf", {
        value() {
          const text = `import ${name} has returned a Promise, for a number; mark it by fiberfill.suspending`;
          throw new FiberError("bad-import", text);
        },
      });
    return result;
  };
}
