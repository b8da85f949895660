// Reports on the console that nobody has asked for. A page where nothing is wrong does not load their words.

import { load } from "../load.js";
import * as words from "./report.js";

type Words = typeof words;

/** Writes what the function of report.ts makes of the facts. The script tag loads it first. */
export function tell<What extends keyof Words>(what: What, ...facts: Parameters<Words[What]>): void {
  const say = (loaded: Words): void => console.warn((loaded[what] as (...facts: unknown[]) => string)(...facts));
  if (!SCRIPT_TAG) return say(words);
  load<Words>("fiberfill-report.js", undefined, "a report on the console needs").then(say, (error: unknown) =>
    console.warn("fiberfill:", what, ...facts, error),
  );
}
