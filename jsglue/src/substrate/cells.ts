// The memory that unwind.ts, yields.ts and the wasm below them share: jsglue/lower/fiber.wat and yield.wat.

/** All of the memory; a call of `entry` may replace this view. */
export let cells: Int32Array;
let memory: WebAssembly.Memory;

/** The slot of the stack that goes on next, if it can go on without JavaScript; otherwise -1. */
export const NEXT = 0;
/** The slot of the stack that went on last; -1 while a stack runs that began inside JavaScript. */
export const LAST = 1;
/** Not 0: JavaScript has something for the import that returns next. */
export const GIVEN = 2;
/** While fibers yield without JavaScript, the address of the running fiber's entry; otherwise 0. */
export const OWN = 4;
/** The address of an entry with news, which refers to the next one; or END. */
export const NEWS = 5;
/** Not 0 while the scheduler is asked. */
export const ASKING = 6;
/** For how many steps the scheduler may be told the time that lies 8 bytes further on. */
export const STEPS = 8;

/** Ends the list of news: neither an address nor 0. */
export const END = 1;

// An entry for each fiber, by its place in the scheduler's table.
const ENTRIES = 16; // the first
const SIZE = 8;
/** Its slot plus 1, or 0 if it is not on a stack of ours. */
export const SLOT = 0;
/** The import by which it may yield without JavaScript. */
export const IMPORT = 1;
/** Yields that JavaScript does not know of. */
export const YIELDS = 2;
/** Not 0: it waits, and JavaScript does not know. */
export const WAITS = 3;
/** In the list of news: the next one. */
export const LINK = 4;
// In the two that follow, yield.wat keeps the stack pointer of a fiber that waits in it, and where its region begins.

/** Where the entry of a fiber begins. Makes room for it. */
export function entry(place: number): number {
  const at = ENTRIES + SIZE * place;
  if (at + SIZE > cells.length) {
    memory.grow(Math.max(1, memory.buffer.byteLength >> 16));
    return (view(), entry(place));
  }
  return at;
}

function view(): void {
  cells = new Int32Array(memory.buffer);
}

/** Sets the memory. */
export function share(given: WebAssembly.Memory): void {
  memory = given;
  view();
  cells[NEXT] = cells[LAST] = -1;
  cells[NEWS] = END;
}
