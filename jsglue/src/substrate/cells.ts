// The memory that unwind.ts, yields.ts and the wasm below them share: jsglue/lower/fiber.wat and yield.wat.

/** All of it, until the next call of entry. */
export let cells: Int32Array;
let memory: WebAssembly.Memory;

/** The slot of the stack that goes on next, if it can without JavaScript; else -1. */
export const NEXT = 0;
/** The slot of the one that went on last; -1 while one runs that began inside JavaScript. */
export const LAST = 1;
/** Not 0: JavaScript has something for the import that returns next. */
export const GIVEN = 2;
/** While fibers yield without JavaScript, the address of the entry of the one that runs; else 0. */
export const OWN = 4;
/** The address of an entry with news, which refers to the next one; or END. */
export const NEWS = 5;
/** Not 0 while the scheduler is asked. */
export const ASKING = 6;

/** No address, and not 0. */
export const END = 1;

// An entry for each fiber, by its place in the scheduler's table.
const ENTRIES = 16; // the first
const SIZE = 8;
/** Its slot and 1, or 0: it is not on a stack of ours. */
export const SLOT = 0;
/** The import by which it may yield without JavaScript. */
export const IMPORT = 1;
/** Yields that JavaScript does not know of. */
export const YIELDS = 2;
/** Not 0: it waits, and JavaScript does not know. */
export const WAITS = 3;
/** In the list of news: the next one. */
export const LINK = 4;

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

/** This is the memory. */
export function share(given: WebAssembly.Memory): void {
  memory = given;
  view();
  cells[NEXT] = cells[LAST] = -1;
  cells[NEWS] = END;
}
