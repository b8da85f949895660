// A record of what the scheduler does, for tests and for debugging.

import { INDEX } from "./core.js";
import { ask, settings } from "./scheduler.js";

/** The events of the scheduler, in the order of the core's numbers, which begin at 1: asyncio/log.go. */
const EVENTS = [
  "spawned", // a fiber was made
  "notified", // I/O of a fiber is complete and in the inbox
  "entered", // the event loop has entered the scheduler: a turn begins
  "resumed", // a fiber was entered, for the first time or again
  "waited", // the running fiber waits
  "yielded", // the running fiber has gone to the end of the ready queue
  "finished", // the running fiber has ended
  "dropped", // a fiber was ended before it ever ran
  "paused", // control goes back to the event loop: something is outstanding
  "completed", // control goes back to the event loop: nothing is left to do
  "begun", // a fiber was made and entered at once, inside a call
] as const;

/** An event of the scheduler's log. */
export type SchedulerEvent = (typeof EVENTS)[number];

/**
 * Empties the scheduler's log and starts recording, for all guests. Each event takes eight bytes, and recording does
 * not stop. {@link log} returns what has been recorded.
 */
export function startLog(): void {
  settings.log = true;
  ask((core) => (core.log_start(), 0));
}

/**
 * Returns what the scheduler has done since {@link startLog}, in order; an empty array if that was never called. Each
 * event comes with the fiber's place in the scheduler's table. A place is reused when its fiber has ended. It is 0 for
 * "entered", "paused" and "completed", which are about no fiber.
 */
export function log(): [event: SchedulerEvent, place: number][] {
  const list: [SchedulerEvent, number][] = [];
  for (let entry; (entry = ask((core) => core.log(list.length)));) {
    list.push([EVENTS[Math.floor(entry / 2 ** 32) - 1]!, entry & INDEX]);
  }
  return list;
}
