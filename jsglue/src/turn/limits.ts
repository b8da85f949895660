// How many fibers are started at once. Live stacks are bounded, because an engine with too many of them ends the page
// without an exception.

import { INDEX } from "./core.js";
import { FiberError } from "../errors.js";
import { limit, settings } from "./scheduler.js";
import { schedule } from "./turn.js";
import { shown, wrong } from "../values.js";

/** How many fibers are started at once. */
export interface Limits {
  /** As long as some of them go on. */
  soft: number;
  /** If nothing would move otherwise. */
  hard: number;
}

/**
 * Sets how many fibers of this page are started at once (soft, 1,000 by default), and up to how many if nothing would
 * move otherwise (hard, 4,000 by default). The others wait unstarted, in order. May be called at any time; fibers that
 * have started stay started. Chromium ends a tab that has some 20,000 stacks, Node a process that has some 32,000;
 * neither can be caught. Until limits are set, the hard one is not in force while all guests are on stacks of
 * fiberfill's own. Returns both as they are now; without an argument nothing changes. Throws a FiberError with
 * the code "bad-argument" unless both are whole numbers and 1 <= soft <= hard.
 */
export function limits(chosen: { soft?: number | undefined; hard?: number | undefined } = settings): Limits {
  if (typeof chosen !== "object" || chosen === null) throw wrong("limits takes { soft, hard }", chosen);
  const whole = (n: unknown) => Number.isInteger(n) && (n as number) >= 1 && (n as number) < INDEX;
  const { soft = settings.soft } = chosen;
  const { hard = whole(soft) ? Math.max(settings.hard, soft) : settings.hard } = chosen;
  if (!whole(soft) || !whole(hard) || hard < soft) {
    throw new FiberError(
      "bad-argument",
      "limits takes { soft, hard }, whole numbers of fibers with 1 <= soft <= hard, " +
        `got soft ${shown(soft)} and hard ${shown(hard)}`,
    );
  }
  // What is only read stays as it is, also a soft limit that has grown.
  if (chosen !== settings) {
    settings.soft = soft;
    settings.hard = hard;
    limit();
    schedule();
  }
  return { soft, hard };
}
