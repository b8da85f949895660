// Fibers in the browser's performance panel, on request.

import type { Fiber } from "./fiber.js";
import { observe } from "../turn/observe.js";

type TimeStamp = (label: string, start: number, end: number, track: string, group: string, color: string) => void;

const colors = {
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
  const open = new WeakMap<Fiber, { state: keyof typeof colors; label: string; since: number }>();
  return observe((fiber) => {
    const { state, since } = fiber;
    const last = open.get(fiber);
    if (last) stamp.call(console, last.label, last.since, since, fiber.name, "fiberfill", colors[last.state]);
    // Of the states that end a fiber nothing follows.
    open.set(fiber, {
      state: state as keyof typeof colors,
      since,
      label: fiber.waitsFor ? `${state}: ${fiber.waitsFor}` : state,
    });
  });
}
