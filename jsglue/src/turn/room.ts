// Room on the engine's stack. It may end anywhere: in the middle of a step of the scheduler, too, which nothing
// repairs. So what may be far down on the stack begins with a function that overflows first, while nothing has been
// changed yet: a call that begins inside another one, which may be endless recursion; and each wait on stacks of our
// own, where an import runs below the guest's frames.
// Why: RATIONALE.md, "Why does a wait on stacks of our own look for room first?".

import { WebAssembly } from "../platform.js";

/** For all that fiberfill does, which takes some ten KB, and for some of the user's code. */
export const PLENTY = 16;

/** {@link needRoom} as a function of wasm, for code in wasm. */
export type Room = (frames: number) => number;

let made: Room | undefined;

/**
 * Throws what the engine throws where its stack overflows, unless there is room for so many frames and one more, each
 * of 4 KB at least.
 */
export function needRoom(frames: number): void {
  room()(frames);
}

/** Returns the function that does it. An engine enters a function only if there is room for the whole of its frame. */
export function room(): Room {
  return (made ??= make());
}

const CALLS = 1000;

function make(): Room {
  // (func $room (param $frames i32) (result i32)
  //   (if (i32.eqz (local.get $frames)) (then (return (i32.const 0))))
  //   (if (i32.gt_s (local.get $frames) (i32.const 0)) (then
  //     (return (call $room (i32.sub (local.get $frames) (i32.const 1))))))
  //   ;; never executed: values that live across calls, so that the frame is large
  //   (call $room (local.get $frames)) … (i32.add) …)
  const calls = Array.from({ length: CALLS }, () => [0x20, 0, 0x10, 0]).flat();
  const adds = new Array<number>(CALLS - 1).fill(0x6a);
  const code = [
    ...[0, 0x20, 0, 0x45, 0x04, 0x40, 0x41, 0, 0x0f, 0x0b],
    ...[0x20, 0, 0x41, 0, 0x4a, 0x04, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x0f, 0x0b],
    ...calls,
    ...adds,
    0x0b,
  ];
  const size = (n: number) => [(n & 127) | 128, n >> 7];
  const body = [1, ...size(code.length), ...code];
  const bytes = [
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, 3, 2, 1, 0, 7, 5, 1, 1, 0x72, 0, 0],
    ...[10, ...size(body.length), ...body],
  ];
  const module = new WebAssembly.Module(new Uint8Array(bytes));
  return new WebAssembly.Instance(module).exports["r"] as Room;
}
