// Who awaits a fiber, in the stack of an error that ends it: the lines that an engine writes for an async function.
//
// Nothing is kept when a fiber is made. V8 (Chromium, Node) finds those lines from the Promise that the running
// microtask is going to settle. So a fiber that has failed is rejected by way of one more Promise, and while that is
// made to reject, V8 is asked for a stack. Other engines tell nothing; there the stack stays as it is.

import { FiberError, isA } from "../errors.js";
import { complete, completeLater, engineStack, isLate } from "../stacktrace.js";
import { then } from "../values.js";
import type { Task } from "./task.js";

const resolved = /* @__PURE__ */ Promise.resolve();

// The same error may end fibers that wait for each other, or many that wait for the same.
const MOST = 10;
const times = /* @__PURE__ */ new WeakMap<Error, number>();

/** Rejects the Promise of a fiber that has failed, two microtasks later. */
export function rejectWithCaller(task: Task, error: unknown): void {
  const failing = then.call(resolved, () => {
    if (isA(error, Error)) tellCaller(error, task);
    throw error;
  });
  then.call(failing, task.resolve, task.reject);
}

function tellCaller(error: Error, { name, exportName }: Task): void {
  const time = times.get(error) ?? 0;
  if (time === MOST) return;
  const callers = engineStack(() => {
    throw new Error();
  })
    .split("\n")
    .filter((line) => /^ +at async /.test(line));
  if (callers.length === 0) return;
  times.set(error, time + 1);
  const lines = [`    at async ${exportName} (fiber ${name})`, ...callers];
  try {
    const cause = isA(error, FiberError) && isA(error.cause, Error) ? error.cause : undefined;
    const how = isLate(error) || isLate(cause) ? completeLater : complete;
    how(error, (stack) => [...withFrames(stack.trimEnd().split("\n"), cause), ...lines].join("\n"));
  } catch {
    // A Proxy, or a getter of a page's own: it stays as it is.
  }
}

/** The lines of a trap's stack, with fiberfill's frames replaced by the guest's, which its cause has. */
function withFrames(lines: string[], cause: Error | undefined): string[] {
  const isFrame = (line: string): boolean => /^ +at /.test(line);
  const frames = cause ? String(cause.stack).split("\n").filter(isFrame) : [];
  return frames.length > 0 ? [...lines.filter((line) => !isFrame(line)), ...frames] : lines;
}
