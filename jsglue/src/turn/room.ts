// Room on the engine's stack. It may end anywhere: in the middle of a step of the scheduler, too, which nothing
// repairs. So what may be far down on the stack begins with a function that overflows first, while nothing has been
// changed yet: a call, since JavaScript may be deep in recursion where it makes one, or cancels it; and each wait on
// stacks of our own, where an import runs below the guest's frames. The script tag has no room for the look before
// calls.
// Why: RATIONALE.md, "Why does a wait on stacks of our own look for room first?".

import { WebAssembly } from "../platform.js";

/** For a step of the scheduler, as when a wait or a call begins. */
export const LITTLE = 2;
/** For all that fiberfill does, which takes some ten KB, and for some of the user's code. */
export const PLENTY = 16;

/** A function of wasm that throws what the engine throws where its stack overflows. */
export type Room = (n: number) => number;

let descends: Room | undefined;
let looks: WebAssembly.Module | undefined;

/** Throws unless there is room for so many frames and one more, each of 4 KB at least. */
export function needRoom(frames: number): void {
  room()(frames);
}

let little = 0;

/**
 * Throws unless there is room for what a call of JavaScript's begins with. Firefox, which alone has InternalError,
 * needs more to get from JavaScript to wasm.
 */
export function needLittle(): void {
  if (!SCRIPT_TAG) needRoom((little ||= "InternalError" in globalThis ? PLENTY : LITTLE));
}

/** Returns {@link needRoom} as a function of wasm, which returns 0. */
export function room(): Room {
  return (descends ??= instance(largeFrame(DESCENDS), {}));
}

/**
 * Returns a function that needs room for one frame, and looks at the guard of the region that begins at the address it
 * is given. It returns 0 if nothing has been written there. Without a region it is given 0. Throws if the memory is of
 * another kind, such as a shared one.
 */
export function roomAndGuard(memory: WebAssembly.Memory): Room {
  return instance((looks ??= largeFrame(looksAtGuard(), MEMORY)), { "": { m: memory } });
}

const instance = (module: WebAssembly.Module, imports: WebAssembly.Imports): Room =>
  new WebAssembly.Instance(module, imports).exports["r"] as Room;

// What the functions do unless they are given 0. What follows is never executed: no region begins at 1.

// (if (i32.gt_s (local.get 0) (i32.const 0)) (then (return (call 0 (i32.sub (local.get 0) (i32.const 1))))))
const DESCENDS = [0x20, 0, 0x41, 0, 0x4a, 0x04, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x0f, 0x0b];

const GUARD = 64; // bytes, as in package shadow
const WORD = [0xf1, 0xc9, 0xef, 0xf8, 0x90, 0x9e, 0xf9, 0x8d, 0x0f]; // eight bytes of it, as the operand of i64.const
// (i64.xor (i64.load offset=i (local.get 0)) (i64.const WORD))
const differs = (i: number): number[] => [0x20, 0, 0x29, 3, i, 0x42, ...WORD, 0x85];
// (if (i32.ne (local.get 0) (i32.const 1)) (then (return (i64.ne (i64.or …) (i64.const 0)))))
const looksAtGuard = (): number[] => {
  const code = [0x20, 0, 0x41, 1, 0x47, 0x04, 0x40, ...differs(0)];
  for (let i = 8; i < GUARD; i += 8) code.push(...differs(i), 0x84);
  return [...code, 0x42, 0, 0x52, 0x0f, 0x0b];
};

const MEMORY = [2, 7, 1, 0, 1, 0x6d, 2, 0, 0]; // (import "" "m" (memory 0))

/**
 * (func (export "r") (param i32) (result i32)): returns 0 if it is given 0. An engine enters a function only if there
 * is room for the whole of its frame; this one has many values that live across calls.
 */
function largeFrame(does: readonly number[], imports: readonly number[] = []): WebAssembly.Module {
  const calls = 1000;
  const code = [
    ...[0, 0x20, 0, 0x45, 0x04, 0x40, 0x41, 0, 0x0f, 0x0b],
    ...does,
    ...Array.from({ length: calls }, () => [0x20, 0, 0x10, 0]).flat(),
    ...new Array<number>(calls - 1).fill(0x6a),
    0x0b,
  ];
  const size = (n: number) => [(n & 127) | 128, n >> 7];
  const body = [1, ...size(code.length), ...code];
  const bytes = [
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, 6, 1, 0x60, 1, 0x7f, 1, 0x7f, ...imports, 3, 2, 1, 0, 7, 5, 1, 1, 0x72, 0, 0],
    ...[10, ...size(body.length), ...body],
  ];
  return new WebAssembly.Module(new Uint8Array(bytes));
}
