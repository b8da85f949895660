// How the Promises of fibers and arenas settle: in the order in which they end (J-EXP-5), although one that has failed
// is rejected two microtasks later, which it takes to find out who awaits it (caller.ts). What ends meanwhile settles
// behind it, by as many microtasks. When nothing has failed, a Promise settles at once.

import { then } from "../values.js";
import { addCaller } from "./caller.js";
import type { Life } from "./life.js";

let later = 0; // how many are on their way

/** Settles the Promise of a fiber or an arena that has ended. If it has failed, `failed` is its line in the stack. */
export function settleInOrder(life: Life, threw: boolean, outcome: unknown, failed?: string): void {
  if (!failed && later === 0) return settleNow(life, threw, outcome);
  later++;
  const settling = then.call(Promise.resolve(), () => {
    if (!failed) return;
    addCaller(outcome, failed);
    throw outcome;
  });
  // From life.resolve, if it is the only handler, V8 knows the Promise behind this one.
  const settled = then.call(settling, failed ? life.resolve : () => settleNow(life, threw, outcome), life.reject);
  then.call(settled, () => later--);
}

function settleNow(life: Life, threw: boolean, outcome: unknown): void {
  if (threw) life.reject(outcome);
  else life.resolve(outcome);
}
