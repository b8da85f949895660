// The scheduler asks for the time at every step. Reading the clock costs 30 to 50 ns, several hundred on a virtual
// machine: more than the rest of a switch. So the clock is read only every few steps: as many as fit into a quarter of
// a millisecond, judging by the last ones. There are two bounds. At most sixteen, because a turn is that many steps too
// long if steps suddenly take longer. And at most eight when a turn begins, because eight steps of a millisecond each
// fill a turn.

const clock = performance; // the global is a getter, which in Chromium takes longer than the clock itself
let now = 0;
let left = 0;
let stride = 1;

/** Reads the clock: milliseconds of performance.now(). */
export function read(): number {
  left = stride = Math.min(8, stride);
  return (now = clock.now());
}

/** The time, at most about half a millisecond old while steps take about equally long. */
export function recent(): number {
  if (--left > 0) return now;
  if (left < 0) return read(); // after a pause, which tells nothing about steps
  const before = now;
  const elapsed = (now = clock.now()) - before;
  stride = elapsed < 0.25 ? Math.min(16, stride * 2) : Math.max(1, stride >> 2);
  left = stride;
  return now;
}

/** For how many steps the last reading does, this one included. The caller counts them. */
export function steps(): number {
  const n = left;
  left = 1;
  return n;
}

/** Time may pass without steps from now on: the next call of recent reads the clock. */
export function idle(): void {
  left = 0;
}

/** The exact time, for an observer of every step. */
export function exact(): number {
  return (now = clock.now());
}

/** The last reading, for uses where roughly right is enough. */
export function last(): number {
  return now;
}
