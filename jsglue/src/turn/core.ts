// The Go core: package asyncio and the parser, compiled to wasm.
//
// The wire contract is in jsglue/core/main.go; the two files change together. A fiber crosses the border as its 32-bit
// reference (an i32, so it may be negative here). Every function that ends a step of a fiber or begins a turn returns a
// command: the reference of the one fiber to run now, IDLE when nothing is ready, or TURN_OVER when the turn's time is
// used up. Times are milliseconds of performance.now(). Booleans are 0 and 1.

import coreBytes from "../../core/core.wasm";
import { reactor } from "../reactor.js";

/** stack_pointer returns this if the stack pointer is ambiguous and the user must name the global. */
export const CANNOT_TELL = -2;
export const IDLE = 0;
export const TURN_OVER = -1;
/** The low bits of a reference: the fiber's place in a table. */
export const INDEX = (1 << 22) - 1;

/** The scheduler's functions. */
export interface Core {
  init(budget: number, soft: number, hard: number): void;
  spawn(): number;
  begin(): number;
  running(): number;
  wait(now: number): number;
  sleep(until: number, now: number): number;
  yield(now: number): number;
  finish(trap: boolean, now: number): number;
  drop(fiber: number): number;
  notify(fiber: number, wait: number): number;
  wanted(): number;
  turn(now: number): number;
  deadline(): number;
  limit(soft: number, hard: number): number;
  stalled(): number;
  log_start(): void;
  log(i: number): number; // an event times 2 ** 32, plus its fiber; 0 after the last
}

/** The parser's side (jsglue/core/inspect.go, shadow.go), for an instance that is thrown away afterwards. */
export interface Inspector {
  memory: WebAssembly.Memory;
  input(n: number): number;
  inspect(n: number): number;
  expose(stackPointer: number): number;
  choose(pointer: number, growth: number, bits: number, source: number, size: number, allocator: number): number;
  size_like_own(base: number, room: number, fibers: number): number;
  mend(regions: number, overflowed: number, end: number): number;
  trampolines(marks: number, tail: boolean): number;
  stubs(marks: number, stackPointer: boolean, regions: boolean): number;
  output(): number;
}

/** Makes an instance of the core. */
export const newCore = /* @__PURE__ */ reactor<Core & Inspector>(coreBytes);

let spare: Inspector | undefined;

/**
 * Returns an instance for parsing `size` bytes, to be used before the next await. One instance is reused until guests
 * have made its memory large. A large guest gets an instance that is not kept.
 */
export function inspector(size = 0): Inspector {
  if (size > 1 << 20) return newCore();
  if (!spare || spare.memory.buffer.byteLength > 1 << 20) spare = newCore();
  return spare;
}
