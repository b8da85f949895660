// The scheduler's share of the page's time. A turn is bounded. So are, together, turns that follow each other in
// microtasks, without the event loop in between, because their completions are there at once. Nothing tells whether the
// event loop was in between, so of each pause up to a millisecond counts as ours.
//
// That estimate is not good enough once the time is used up: what one event brings may have to be used before the next
// event, as in an IndexedDB transaction. Then microtasks are counted. If more of them pass than immediate completions
// take, the event loop was probably in between. That is believed only a few times, since an import may make as many
// microtasks.
// Why: RATIONALE.md, "Why does a turn end after 8 ms?".

import { then } from "../values.js";

export const BUDGET = 8; // ms: half a frame; the other half is the page's
const MANY = 100; // microtasks
const BELIEVED = 12; // times that the count is believed, until the event loop has certainly had control

let began = 0; // when the last turn began, or the last call outside of a turn that began a fiber
let ended = 0; // when the last turn ended
let spent = 0; // ms used since the event loop has certainly had control
let asked = false; // the event loop has been asked to call back
let due: (() => void) | undefined; // what it then begins
let overs = 0; // turns that have used up the time
let fresh = false; // many microtasks have passed since the last such turn
let believed = 0;

const resolved = /* @__PURE__ */ Promise.resolve();

/** Calls `fn` when no other code runs. Not by queueMicrotask: a test's fake timers never call what it is given. */
export function soon(fn: () => void): void {
  then.call(resolved, fn);
}

/** Calls `fn` when the event loop has done everything else. Several calls keep their order. */
export const later: (fn: () => void) => void = /* @__PURE__ */ (() => {
  // Captured now: a test may later replace them, and call back when it likes.
  const { setImmediate: immediate, setTimeout: timeout } = globalThis as {
    setImmediate?: (fn: () => void) => void;
    setTimeout: typeof setTimeout;
  };
  if (!SCRIPT_TAG && immediate) return (fn) => immediate(fn); // no page has it
  if (typeof MessageChannel === "undefined") return (fn) => timeout(fn); // in jsdom
  let channel: MessageChannel | undefined;
  const waiting: (() => void)[] = [];
  return (fn) => {
    if (!channel) {
      channel = new MessageChannel();
      channel.port1.onmessage = () => waiting.shift()?.();
      // Firefox loses a message to a page in its back-forward cache, so it is posted again when the page is back.
      globalThis.addEventListener?.("pageshow", () => waiting.forEach(() => channel!.port2.postMessage(0)));
    }
    waiting.push(fn);
    channel.port2.postMessage(0);
  };
})();

/** Begins a turn if there is time left for it. Returns whether there is. */
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

/** Ends the turn, or that call. */
export function turnEnds(now: number): void {
  spent += now - began;
  began = ended = now;
  if (spent <= BUDGET / 2) return;
  ask(); // so that the next turn, whenever it comes, need not wait for this
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

/** The event loop has control, or has just called us. */
export function rested(): void {
  spent = believed = 0;
}

/** Calls `turn` when the event loop has had control. Of several calls, the last one counts. */
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
