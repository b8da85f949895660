// A record of what the scheduler does: for tests, and for who wants to see it.

import { INDEX } from "./core.js";
import { ask, settings } from "./scheduler.js";

/** What the scheduler notes. The core's numbers of these are their places, from 1 on: asyncio/log.go. */
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
 * Empties the scheduler's log and begins to record, for all guests: every event takes eight bytes from then on, and
 * nothing ends it. {@link log} returns what has been recorded.
 */
export function startLog(): void {
  settings.log = true;
  ask((core) => (core.log_start(), 0));
}

/**
 * What the scheduler has done since {@link startLog}, in order; nothing if that was never called. With each event comes
 * the fiber's place in the scheduler's table, which another fiber gets when this one is over, and 0 for "entered",
 * "paused" and "completed", which are about no fiber.
 */
export function log(): [event: SchedulerEvent, place: number][] {
  return Array.from({ length: ask((core) => core.log_len()) }, (_, i) => [
    EVENTS[ask((core) => core.log_event(i)) - 1]!,
    ask((core) => core.log_fiber(i)) & INDEX,
  ]);
}
