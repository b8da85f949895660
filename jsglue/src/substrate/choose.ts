// Which substrate holds the stacks of a guest.

import { FiberError } from "../errors.js";
import { load } from "../load.js";
import type { Shape } from "../guest/module.js";
import type { Options } from "../guest/options.js";
import { SuspendError, WebAssembly } from "../platform.js";
import { soon } from "../turn/budget.js";
import { ask } from "../turn/scheduler.js";
import { run } from "../turn/turn.js";
import { wrong } from "../values.js";
import { deadly, jspi } from "./jspi.js";
import type { Kind, Substrate } from "./substrate.js";

// Node 24 has an earlier JSPI, in which guests hang.
const hangs = (): boolean =>
  (globalThis as { process?: { versions?: Record<string, string> } }).process?.versions?.v8?.startsWith("13.6.") ??
  false;

/** Whether the engine has the parts of JSPI that fiberfill uses. */
export function hasJSPI(): boolean {
  const engine: Partial<typeof WebAssembly> | undefined = WebAssembly;
  return !!(engine?.Suspending && engine.promising) && (SCRIPT_TAG || !hangs());
}

// (module (type (struct)) (global exnref (ref.null noexn)))
const frames = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 3, 1, 95, 0, 6, 6, 1, 105, 0, 208, 116, 11);

/** Whether the engine has the features that fiberfill's own stacks need. */
export const canUnwind = (): boolean => !!WebAssembly?.validate(frames);

/** What stacks of our own take from the rest of fiberfill. */
export const needs = { ask, run, soon, deadly, SuspendError };

/**
 * Returns the kind that is asked for, or the default. Throws if the engine does not have it, always with the same
 * words.
 */
export function kindOf(options: Options | undefined): Kind {
  const { stacks } = Object(options) as Options;
  if (stacks !== undefined && stacks !== "jspi" && stacks !== "unwind")
    throw wrong('stacks is "jspi" or "unwind"', stacks);
  if (stacks !== "unwind" && hasJSPI()) return "jspi";
  if (stacks !== "jspi" && canUnwind()) return "unwind";
  const lacks = [];
  if (stacks !== "unwind")
    lacks.push(
      "JavaScript Promise Integration (Chrome and Edge 137, Firefox 153, Safari 27" +
        (SCRIPT_TAG ? "" : ", Node 25, Deno 2.4, Bun 1.4") +
        " or newer)",
    );
  if (stacks !== "jspi")
    lacks.push(
      "WebAssembly with garbage collection and exception references (Chrome and Edge 137, Firefox 131, Safari 18.4" +
        (SCRIPT_TAG ? "" : ", Node 22, Bun 1.2") +
        " or newer)",
    );
  throw new FiberError("no-jspi", `a fiber needs a stack, and this engine has no ${lacks.join(", and no ")}`);
}

/**
 * Returns the substrate for a guest. Rejects if the engine lacks it, or if the guest was compiled for the other one.
 */
export async function substrateOf(options: Options | undefined, { bytes }: Shape): Promise<Substrate> {
  if (kindOf(options) === "jspi") return jspi;
  if (!bytes) {
    const text = 'this module was compiled for the engine\'s own stacks; compile it with { stacks: "unwind" }, too';
    throw new FiberError("foreign-module", text);
  }
  const { unwinding } = await load(
    "fiberfill-unwind.js",
    SCRIPT_TAG ? undefined : () => import("./unwind.js"),
    "stacks of its own need",
  );
  return unwinding(needs, bytes);
}
