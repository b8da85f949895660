// What happened to the fibers of a run: every change of state, in order of time, in typed arrays. Every switch of every
// fiber is noted, so noting must cost next to nothing. A painter reads on from where it stopped.

/**
 * The states as numbers. If there is room for only one state, the larger one is shown: a fiber that ran for a moment
 * between two waits shows as running.
 */
export const NONE = 0;
export const DONE = 1;
export const QUEUED = 2;
export const WAITING = 3;
export const RUNNING = 4;
export const CANCELLED = 5;
export const FAILED = 6;

export const stateNames = ["none", "done", "queued", "waiting", "running", "cancelled", "failed"];

export class Recording {
  lanes = new Uint16Array(1024);
  states = new Uint8Array(1024);
  times = new Float64Array(1024); // performance.now()
  length = 0;

  /** The state of each lane now, and since when. */
  readonly now: Uint8Array;
  readonly since: Float64Array;
  /** How many lanes are in each state now. */
  readonly counts = new Int32Array(stateNames.length);
  mostWaiting = 0;

  constructor(readonly size: number) {
    this.now = new Uint8Array(size);
    this.since = new Float64Array(size);
    this.counts[NONE] = size;
  }

  note(lane: number, state: number, time: number): void {
    const at = this.length;
    if (at === this.times.length) this.#grow();
    this.lanes[at] = lane;
    this.states[at] = state;
    this.times[at] = time;
    this.length = at + 1;
    const { counts, now } = this;
    counts[now[lane]!]!--;
    if (++counts[state]! > this.mostWaiting && state === WAITING) this.mostWaiting = counts[state]!;
    now[lane] = state;
    this.since[lane] = time;
  }

  #grow(): void {
    const room = this.times.length * 2;
    const { lanes, states, times } = this;
    (this.lanes = new Uint16Array(room)).set(lanes);
    (this.states = new Uint8Array(room)).set(states);
    (this.times = new Float64Array(room)).set(times);
  }

  /** How many lanes have ended. */
  get ended(): number {
    return this.counts[DONE]! + this.counts[FAILED]! + this.counts[CANCELLED]!;
  }
}

export function isLive(state: number): boolean {
  return state === QUEUED || state === WAITING || state === RUNNING;
}
