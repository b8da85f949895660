// The page's share of the time. A turn is bounded, and so is what turns take together that follow each other in
// microtasks, without the event loop in between, because the completions are there at once. Nobody tells whether the
// event loop was in between: of a pause, up to a millisecond counts as ours.
//
// When the time is used up that is not good enough: what an event brings may have to be used before the next one, as an
// IndexedDB transaction has. So then microtasks are counted. Where more of them pass than completions take that are
// there at once, the event loop was in between, or so it is believed for a while: an import may make as many of them
// itself.
// Why: RATIONALE.md, "Why does a turn end after 8 ms?".

import { then } from "../values.js";

export const BUDGET = 8; // ms: half a frame, the other half is the page's
const MANY = 100; // microtasks
const BELIEVED = 12; // times, until the event loop has had control for certain

let began = 0; // the last turn, or the call outside of a turn that a fiber began in
let ended = 0; // the last turn
let spent = 0; // ms since the event loop has had control for certain
let asked = false; // it is to tell when it has
let due: (() => void) | undefined; // what is to begin then
let overs = 0; // turns that have ended with the time used up
let fresh = false; // many microtasks have passed since the last of them
let believed = 0;

const resolved = /* @__PURE__ */ Promise.resolve();

/**
 * Has the engine call back when no other code runs. Not by queueMicrotask: under the fake timers of a test nobody calls
 * what that is given.
 */
export function soon(fn: () => void): void {
  then.call(resolved, fn);
}

/** Has the event loop call back when it has done everything else: each that asks, in their order. */
export const later: (fn: () => void) => void = /* @__PURE__ */ (() => {
  // Both as they are now: a test may put others into their places, and call them when it likes.
  const { setImmediate: immediate, setTimeout: timeout } = globalThis as {
    setImmediate?: (fn: () => void) => void;
    setTimeout: typeof setTimeout;
  };
  if (immediate) return (fn) => immediate(fn);
  if (typeof MessageChannel === "undefined") return (fn) => timeout(fn); // in jsdom
  let channel: MessageChannel | undefined;
  const waiting: (() => void)[] = [];
  return (fn) => {
    if (!channel) {
      channel = new MessageChannel();
      channel.port1.onmessage = () => waiting.shift()?.();
      // What Firefox delivers to a page in the back-forward cache is lost: it is sent once more when the page is back.
      globalThis.addEventListener?.("pageshow", () => waiting.forEach(() => channel!.port2.postMessage(0)));
    }
    waiting.push(fn);
    channel.port2.postMessage(0);
  };
})();

/** A turn begins, if there is time left for it, which is what this returns. */
export function turnBegins(now: number): boolean {
  began = now;
  spent += Math.min(1, now - ended);
  if (spent > BUDGET && fresh && believed < BELIEVED) {
    believed++;
    spent = 0;
  }
  return spent <= BUDGET;
}

/** A fiber begins in a call outside of a turn. */
export function callBegins(now: number): void {
  began = now;
}

/** The turn, or that call, is over. */
export function turnEnds(now: number): void {
  spent += now - began;
  began = ended = now;
  if (spent <= BUDGET / 2) return;
  ask(); // so that what comes next, whenever that is, need not wait for it
  if (spent > BUDGET - 1) count();
}

/** Counts the microtasks that pass from now on. */
function count(): void {
  const over = ++overs;
  fresh = false;
  let left = MANY;
  const next = () => {
    if (over !== overs) return;
    if (--left > 0) soon(next);
    else fresh = true;
  };
  soon(next);
}

/** The event loop has control, or has called us. */
export function rested(): void {
  spent = believed = 0;
}

/** Has `turn` called when the event loop has had control. Of several calls the last counts. */
export function pause(turn: () => void): void {
  due = turn;
  ask();
}

function ask(): void {
  if (asked) return;
  asked = true;
  later(() => {
    asked = false;
    rested();
    const turn = due;
    due = undefined;
    turn?.();
  });
}
