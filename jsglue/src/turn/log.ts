// A record of what the scheduler does, for tests.

import { INDEX } from "./core.js";
import { ask, settings } from "./scheduler.js";

/** Starts recording what the scheduler does; see {@link log}. */
export function startLog(): void {
  settings.log = true;
  ask((core) => (core.log_start(), 0));
}

/** What the scheduler has done since startLog: the kind of event (asyncio/log.go) and the fiber's index. */
export function log(): [event: number, index: number][] {
  return Array.from({ length: ask((core) => core.log_len()) }, (_, i) => [
    ask((core) => core.log_event(i)),
    ask((core) => core.log_fiber(i)) & INDEX,
  ]);
}
