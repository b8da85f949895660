// What the page says of a run in numbers and sentences.

import type { Frames } from "./frames.js";
import { clear, count, data, duration, set } from "./numbers.js";
import { element } from "./page.js";
import { CANCELLED, DONE, FAILED, stateNames } from "./recording.js";
import type { Run } from "./run.js";

const names = ["total", "sequential", "faster", "right", "most", "rate", "longest"] as const;
type Column = Record<(typeof names)[number], HTMLDataElement>;
const column = (prefix: string) => Object.fromEntries(names.map((name) => [name, data(prefix + name)])) as Column;

/** The two columns of results. */
export const columns = { fiberfill: column(""), raw: column("raw-") };

const states = stateNames.slice(1).map((name) => data(`count-${name}`));
const progress = element<HTMLProgressElement>("progress");
const status = element("status");
const spoken = element("spoken");

/** Shows what a run has come to. After a cancellation it claims nothing about times: what was cancelled has none. */
export function showResults(shown: Column, run: Run, frames: Frames): void {
  const { record, wire } = run;
  const ended = record.counts[DONE]! + record.counts[FAILED]!;
  set(shown.right, run.right, `${count(run.right)} of ${count(ended - run.refused)}`);
  set(shown.most, record.mostWaiting);
  set(shown.rate, frames.rate, frames.rate.toFixed(0));
  set(shown.longest, frames.longest, `${frames.longest.toFixed(0)} ms`);
  if (record.counts[CANCELLED]! > 0) {
    [shown.total, shown.sequential, shown.faster].forEach(clear);
    return;
  }
  set(shown.total, run.elapsed, duration(run.elapsed));
  set(shown.sequential, wire.sum, duration(wire.sum));
  set(shown.faster, wire.sum / run.elapsed, `${(wire.sum / run.elapsed).toFixed(1)} times`);
}

/** Shows that there are no results. */
export function clearResults(shown: Column): void {
  Object.values(shown).forEach(clear);
}

/** Shows how many fibers are in each state. */
export function showStates({ record }: Run): void {
  states.forEach((node, i) => set(node, record.counts[i + 1]!));
  progress.max = record.size;
  progress.value = record.ended;
}

/** Says how the run is going, also to a screen reader, so call it seldom. */
export function announce(run: Run, then = ""): void {
  const { counts, size } = run.record;
  const ends = `${count(counts[DONE]!)} done, ${count(counts[FAILED]!)} failed, ${count(counts[CANCELLED]!)} cancelled`;
  if (run.end === undefined) {
    status.textContent = `Running ${count(size)} fibers in one instance.`; // the numbers above show the rest
    spoken.textContent = `Running ${count(size)} fibers: ${ends}.`;
  } else {
    const right = `${count(run.right)} results right`;
    say(`${count(size)} fibers ended after ${duration(run.elapsed)}: ${ends}; ${right}.${then}`);
  }
}

export function say(text: string): void {
  status.textContent = spoken.textContent = text;
}
