// The events that calls wait for. Each wait has a Promise of its own, which is pending when the import returns it. The
// waits of a wave are settled together once all its calls wait, in an order that has nothing to do with that of the
// calls, from a microtask.
//
// A contestant may let only some calls start before others have ended. So when no further call has come to wait during
// a whole turn of the event loop, those that wait are settled. Only large waves pay for this, all contestants alike.

import { later } from "./host.js";

const LARGE = 1000;
const STEP = 7919; // a prime: steps of it through a batch meet each place once, out of order

/** What the wait with this id brings. */
export const valueOf = (id) => (id * 31 + 7) | 0;

export class Waits {
  ids = [];
  wakes = [];
  left = 0; // calls of the wave that have not been settled
  held = false; // nothing is settled until release

  /** The import: a Promise for the call's own event. */
  wait = (id) => {
    const promise = new Promise((resolve) => this.wakes.push(resolve));
    this.ids.push(id);
    if (this.ids.length === this.left && !this.held) queueMicrotask(this.settle);
    return promise;
  };

  /** A wave of so many calls begins. */
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

  /** Settles what waits whenever nothing else comes, until nothing is left. */
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
