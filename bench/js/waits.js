// The events that calls wait for. Each wait has a Promise of its own, which is pending when the import returns it. Once
// all calls of a wave wait, their waits are settled together, from a microtask, in an order unrelated to that of the
// calls.
//
// A contestant may start some calls only after others have ended. So if no further call starts to wait during a whole
// turn of the event loop, the current waits are settled. Only large waves pay for this, the same for all contestants.

import { later } from "./host.js";

const LARGE = 1000;
const STEP = 7919; // a prime: steps of this size visit each place of a batch once, out of order

/** The value of the wait with this id. */
export const valueOf = (id) => (id * 31 + 7) | 0;

export class Waits {
  ids = [];
  wakes = [];
  left = 0; // calls of the wave that are not settled
  held = false; // nothing is settled until release

  /** The import: a Promise for the call's own event. */
  wait = (id) => {
    const promise = new Promise((resolve) => this.wakes.push(resolve));
    this.ids.push(id);
    if (this.ids.length === this.left && !this.held) queueMicrotask(this.settle);
    return promise;
  };

  /** Begins a wave of calls. */
  expect(width) {
    this.left += width;
    if (width >= LARGE && !this.held) this.watch();
  }

  settle = () => {
    const { ids, wakes } = this;
    const n = ids.length;
    this.ids = [];
    this.wakes = [];
    this.left -= n;
    const step = n % STEP === 0 ? 1 : STEP;
    for (let i = 0, at = n >> 1; i < n; i++, at = (at + step) % n) wakes[at](valueOf(ids[at]));
  };

  /** Settles the current waits whenever no further call comes, until no call is left. */
  watch() {
    let seen = -1;
    const look = () => {
      if (this.left === 0 || this.held) return;
      if (this.ids.length === seen && seen > 0) this.settle();
      seen = this.ids.length;
      later(look);
    };
    later(look);
  }

  /** Ends the hold. */
  release() {
    this.held = false;
    this.watch();
  }
}
