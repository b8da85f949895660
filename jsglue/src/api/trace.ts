// Fibers in the browser's performance panel, on request.

import type { Fiber } from "./fiber.js";
import type { FiberState } from "../turn/task.js";
import { observe } from "../turn/observe.js";

type TimeStamp = (label: string, start: number, end: number, track: string, group: string, color: string) => void;

const colors: Partial<Record<FiberState, string>> = {
  queued: "tertiary-light",
  running: "primary-dark",
  waiting: "secondary-light",
};

/**
 * Shows each fiber as a track in the browser's performance panel while the panel records: a span for each time that the
 * fiber was queued, ran or waited, and what it waited for. Returns a function that stops this. Costs about a
 * microsecond per change of state. Does nothing in engines whose console.timeStamp takes only a label.
 */
export function trace(): () => void {
  const stamp = console.timeStamp as unknown as TimeStamp;
  const open = new WeakMap<Fiber, { state: FiberState; label: string; since: number }>();
  return observe((fiber) => {
    const { state, since } = fiber;
    const last = open.get(fiber);
    if (last)
      stamp.call(console, last.label, last.since, since, fiber.name, "fiberfill", colors[last.state] ?? "primary");
    open.set(fiber, { state, since, label: fiber.waitsFor ? `${state}: ${fiber.waitsFor}` : state });
  });
}
