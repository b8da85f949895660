// Room on the engine's stack. A call that begins inside another one may be endless recursion, and the stack ends
// anywhere: in the middle of a step of the scheduler, too, which nothing repairs. So such a call is refused before,
// unless there is room for all that fiberfill does.

const noop = (): void => {};
const words = /* @__PURE__ */ Array.from({ length: 8192 }); // 64 KB; what fiberfill does takes some ten

/** Throws what the engine throws where the stack overflows, unless there is room for a call inside a call. */
export function needRoom(): void {
  noop.apply(undefined, words as []);
}
