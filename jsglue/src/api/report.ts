// What a thread about a bug should begin with.

import { load } from "../load.js";
import { hasJSPI } from "../substrate/choose.js";
import { limits } from "../turn/limits.js";
import * as words from "../turn/report.js";
import { liveFibers } from "../turn/turn.js";

/**
 * Returns a text for bug threads: fiberfill's version, the engine, whose stacks it has, the limits, and all fibers that
 * have not ended, with what each waits for, since when, and how shadow stacks of its guest are kept. The script tag
 * first loads fiberfill-report.js, and rejects if that is missing.
 */
export async function report(): Promise<string> {
  const { summary } = SCRIPT_TAG ? await load<typeof words>("fiberfill-report.js", undefined, "report needs") : words;
  return summary(hasJSPI(), limits(), liveFibers());
}
