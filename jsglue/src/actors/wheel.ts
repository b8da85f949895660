// The rules of actors: package internal/wheel, compiled to wasm.
//
// The wire contract is in jsglue/actors/main.go; the two files change together. An actor crosses the border as its
// number. Times are milliseconds, with fractions. Booleans are 0 and 1.

import bytes from "../../actors/actors.wasm";
import { reactor } from "../reactor.js";

/** Verdicts on operations from outside. */
export const OK = 0;
export const NO_ACTOR = 1;
export const BAD_CLASS = 3;
export const BAD_MAILBOX = 4;
export const LATER = 7; // of stop: the actor runs, and ends when it comes back

/** Answers to a blocking call. */
export const NOT_RUNNING = -2;
export const REFUSED = -1;
export const PARK = 1;

export interface Wheel {
  spawn(stack: number, native: boolean, room: number): number; // the actor, or a verdict with the sign changed
  send(to: number): number;
  stop(id: number): number;
  close(): void;
  newest(): number;
  begin(now: number): void;
  next(): number; // the actor to enter; the one to resume, with the sign changed; 0: the step is over
  back(alive: boolean): number; // whether the actor is over
  more(): number;
  idle(now: number, poll: number): number; // ms, or -1 for ever
  running(): number;
  sleep(id: number, ms: number, now: number): number;
  recv(id: number): number;
  wait(id: number, timeoutMs: number, now: number): number;
  waits(id: number): number;
  ready(id: number, wait: number): number;
  result(id: number): number;
  blocked(id: number): number;
  deadline(id: number): number; // 0: none
  mailbox(id: number): number; // -1: it has ended
  live(): number;
  active(): number;
}

/** Makes a wheel without actors. */
export const newWheel = /* @__PURE__ */ reactor<Wheel>(bytes);
