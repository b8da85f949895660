// The scheduler wants to know the time at every step, and asking costs 30 to 50 ns, several hundred on a virtual
// machine: more than all else that a switch costs. So the time is read anew only every few steps: as many as fit into a
// quarter of a millisecond, judged by the last ones; but not more than sixteen, by which a turn is too long when steps
// suddenly are, and at its beginning not more than eight, which are a turn if each of them takes a millisecond.

const clock = performance; // the global is a getter, which takes Chromium longer than the clock itself
let now = 0;
let left = 0;
let stride = 1;

/** Reads the clock: milliseconds of performance.now(). */
export function read(): number {
  left = stride = Math.min(8, stride);
  return (now = clock.now());
}

/** The time, at most about half a millisecond old while steps are of even length. */
export function recent(): number {
  if (--left > 0) return now;
  if (left < 0) return read(); // after a pause, which says nothing about steps
  const before = now;
  const elapsed = (now = clock.now()) - before;
  stride = elapsed < 0.25 ? Math.min(16, stride * 2) : Math.max(1, stride >> 2);
  left = stride;
  return now;
}

/** Time may pass now without a step: the next call of recent reads the clock. */
export function idle(): void {
  left = 0;
}

/** The time, for one who watches every step. */
export function exact(): number {
  return (now = clock.now());
}

/** The last reading: for what only has to be about right. */
export function last(): number {
  return now;
}
