// Room on the engine's stack. On stacks of our own an import runs where the guest has called it, which may be near the
// end of the engine's stack. An overflow in the middle of a wait would leave the scheduler in a state that nothing
// repairs. So each wait begins with a function that overflows first, while nothing has been changed yet.
// Why: RATIONALE.md, "Why does a wait on stacks of our own look for room first?".

import { WebAssembly } from "../platform.js";

/**
 * Throws what the engine throws where its stack overflows, unless there is room for so many frames and one more, each
 * of 4 KB at least: an engine checks that the whole frame of a function has room before it enters the function.
 */
export let room: (frames: number) => number;

const CALLS = 1000;

/** Makes the function, once. */
export function makeRoom(): void {
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
  room = new WebAssembly.Instance(module).exports["r"] as typeof room;
}
