// Imports that wait, of a lowered module (package polyfill/lower, waits.go): JavaScript begins the wait, the stack is
// left, and JavaScript ends the wait when the stack is entered again.

import { shared } from "./driver.js";
import { SuspendError, WebAssembly } from "../platform.js";

/** An import that waits. */
export class Waiting {
  /**
   * begin returns 1 if the stack is to be left, 0 if end has the answer. It is called also where no stack can be left,
   * and is told so: `cannot` is 1 then. end returns the import's results, or throws.
   */
  constructor(
    readonly begin: (cannot: number, ...args: any[]) => number,
    readonly end: () => unknown,
  ) {}
}

let Refusal = SuspendError;

/** Sets the error that an import throws from now on if it would have to wait and cannot. */
export function refuseWith(kind: typeof SuspendError): void {
  Refusal = kind;
}

export function refuse(): never {
  throw new Refusal("trying to suspend JavaScript frames, a module that is not rewritten, or no fiber");
}

let tag: WebAssembly.Tag | undefined;

/** The tag that all of them suspend with. */
export function waitTag(): WebAssembly.Tag {
  if (!tag) {
    const { driver, tags } = shared();
    tag = new WebAssembly.Tag({ parameters: [] });
    // Another copy of fiberfill in this realm may have been here first: all use one identity.
    const id = (driver.wait.value ??= driver.newTag(0));
    tags.set(tag, { id, type: "" });
  }
  return tag;
}
