// Who awaits a fiber or an arena, in the stack of an error that ends it: the lines that an engine writes for an async
// function.
//
// Nothing is kept when a fiber is made. V8 (Chromium, Node) finds those lines from the Promise that the running
// microtask is going to settle. So a fiber that has failed is rejected by way of one more Promise (settle.ts), and
// while that is made to reject, V8 is asked for a stack. If V8 knows of nobody who awaits the fiber, as when an arena
// does, the fiber's own line is added alone; the arena rejects in the same way. Other engines tell nothing; there the
// stack stays as it is.

import { FiberError, isA } from "../errors.js";
import { complete, completeLater, engineStack, isLate } from "../stacktrace.js";

/** Completes the stack of an error that ends a fiber or an arena. `what` is its own line. */
export function addCaller(error: unknown, what: string): void {
  try {
    if (isA(error, Error)) (SCRIPT_TAG ? tellShortly : tellCaller)(error, `\n    at async ${what}`);
  } catch {
    // Another engine, a frozen error, a Proxy, or a getter of a page's own: it stays as it is.
  }
}

// Matches nothing in the stacks of other engines.
const CALLERS = / at [^]*?(\n +at async [^]*|$)/;

// The same error may end fibers that wait for each other, or many that wait for the same.
const MOST = 10;
const times = /* @__PURE__ */ new WeakMap<Error, number>();

function tellCaller(error: Error, line: string): void {
  const time = times.get(error) ?? 0;
  if (time === MOST) return;
  const stack = engineStack(() => {
    throw new Error();
  });
  const callers = CALLERS.exec(stack)?.[1];
  if (callers === undefined) return;
  times.set(error, time + 1);
  // Bun 1.2 crashes if somebody reads the stack of an error whose message is not a string.
  if (typeof error.message !== "string") return;
  const cause = isA(error, FiberError) && isA(error.cause, Error) ? error.cause : undefined;
  const how = isLate(error) || isLate(cause) ? completeLater : complete;
  how(error, (own) => withFrames(own.trimEnd().split("\n"), cause).join("\n") + line + callers);
}

// The script tag has no room for more. A trap keeps fiberfill's frames; the guest's are in its cause.
function tellShortly(error: Error, line: string): void {
  const [, callers] = CALLERS.exec(new Error().stack!)!; // in other engines this throws
  if (error.stack!.length < 1e4) error.stack += line + callers;
}

/** The lines of a trap's stack, with fiberfill's frames replaced by the guest's, which its cause has. */
function withFrames(lines: string[], cause: Error | undefined): string[] {
  const isFrame = (line: string): boolean => /^ +at /.test(line);
  const frames = cause ? String(cause.stack).split("\n").filter(isFrame) : [];
  return frames.length > 0 ? [...lines.filter((line) => !isFrame(line)), ...frames] : lines;
}
