// Imports that wait, of a lowered module: each becomes a function of a small module (package polyfill/lower, Waits),
// which has JavaScript begin the wait, leaves its stack, and has JavaScript end the wait when it is entered again.

import { shared } from "./driver.js";
import { SuspendError, WebAssembly } from "../platform.js";

/** An import that waits. */
export class Waiting {
  /** begin returns 1 if the stack is to be left, 0 if end has the answer; end returns the import's results, or throws. */
  constructor(
    readonly begin: (...args: any[]) => number,
    readonly end: () => unknown,
  ) {}
}

let tag: WebAssembly.Tag | undefined;

/** The tag that all of them suspend with. */
export function waitTag(): WebAssembly.Tag {
  if (!tag) {
    const { driver, lowered, tags } = shared();
    tag = new WebAssembly.Tag({ parameters: [] });
    // Another copy of fiberfill in this realm may have been here first: all use one identity.
    const id = (driver.wait.value ??= driver.newTag(0));
    tags.set(tag, { id, type: "" });
    lowered.add(driver.canWait);
  }
  return tag;
}

let Refusal = SuspendError;

/** What an import throws from now on that would have to wait and cannot. */
export function refuseWith(kind: typeof SuspendError): void {
  Refusal = kind;
}

function refuse(): never {
  throw new Refusal("trying to suspend JavaScript frames, a module that has not been rewritten, or no fiber");
}

/** What such a module imports. */
export function waitImports(waits: Map<number, Waiting>): WebAssembly.Imports {
  const begin = Object.create(null);
  const end = Object.create(null);
  for (const [i, waiting] of waits) {
    begin[i] = waiting.begin;
    end[i] = waiting.end;
  }
  return {
    host: { can: shared().driver.canWait, refuse, wait: waitTag() },
    begin,
    end,
  } as unknown as WebAssembly.Imports;
}
