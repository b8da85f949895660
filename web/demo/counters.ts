// The numbers beside the timeline. Each is a <data> element: its value is the number itself, its text is for people.

import type { Frames } from "./frames.js";
import { element } from "./page.js";
import { CANCELLED, DONE, FAILED, stateNames } from "./recording.js";
import type { Run } from "./run.js";

const data = (id: string) => element<HTMLDataElement>(id);
const shown = {
  total: data("total"),
  sequential: data("sequential"),
  faster: data("faster"),
  fibers: data("fibers-ended"),
  right: data("right"),
  most: data("most"),
  rate: data("rate"),
  longest: data("longest"),
};
const states = stateNames.slice(1).map((name) => data(`count-${name}`));
const progress = element<HTMLProgressElement>("progress");
const status = element("status");
const spoken = element("spoken");

function set(node: HTMLDataElement, value: number, text = count(value)): void {
  if (node.textContent === text) return;
  node.value = String(value);
  node.textContent = text;
}

export function showCounters(run: Run, frames: Frames): void {
  const { record, wire } = run;
  const { counts, size } = record;
  set(shown.total, run.elapsed, duration(run.elapsed));
  set(shown.sequential, wire.sum, duration(wire.sum));
  const cut = counts[CANCELLED]! > 0; // what was cancelled was not measured: nothing is claimed
  set(shown.faster, cut ? 0 : wire.sum / run.elapsed, cut ? "-" : `${(wire.sum / run.elapsed).toFixed(1)}×`);
  set(shown.fibers, record.ended, `${count(record.ended)} of ${count(size)}`);
  set(shown.right, run.right, `${count(run.right)} of ${count(counts[DONE]!)}`);
  set(shown.most, record.mostWaiting);
  set(shown.rate, frames.rate, frames.rate.toFixed(0));
  set(shown.longest, frames.longest, `${frames.longest.toFixed(0)} ms`);
  states.forEach((node, i) => set(node, counts[i + 1]!));
  progress.max = size;
  progress.value = record.ended;
}

/** Says how the run is going, also to a screen reader, so call it seldom. */
export function announce(run: Run): void {
  const { counts, size } = run.record;
  const ends = `${count(counts[DONE]!)} done, ${count(counts[FAILED]!)} failed, ${count(counts[CANCELLED]!)} cancelled`;
  if (run.end === undefined) {
    status.textContent = `Running ${count(size)} fibers in one instance.`; // the counters above show the rest
    spoken.textContent = `Running ${count(size)} fibers: ${ends}.`;
  } else {
    say(`${count(size)} fibers ended after ${duration(run.elapsed)}: ${ends}; ${count(run.right)} results right.`);
  }
}

export function say(text: string): void {
  status.textContent = spoken.textContent = text;
}

function count(n: number): string {
  return n.toLocaleString("en");
}

function duration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
