// What a guest says of its panics. A trap tells no more than "unreachable". A guest that exports fiberfill_panic leaves
// the text in its memory; the crate for Rust does (examples/rust-fetch).

import type { Binding } from "./binding.js";

const exported = /* @__PURE__ */ new WeakMap<Binding, () => number>();

/** Lets a guest that has been instantiated prepare to leave such texts. */
export function prepare(binding: Binding, { fiberfill_panic }: WebAssembly.Exports): void {
  if (typeof fiberfill_panic !== "function" || !binding.memory) return;
  exported.set(binding, fiberfill_panic as () => number);
  panicText(binding);
}

/** Returns the text that the last panic has left, with a colon before it, or "". It is told once. */
export function panicText(binding: Binding): string {
  try {
    const at = (exported.get(binding)?.() ?? 0) >>> 0;
    if (at === 0) return "";
    const text = binding.bytes().subarray(at);
    const end = text.indexOf(0);
    return end < 0 ? "" : `: ${new TextDecoder().decode(text.slice(0, end))}`;
  } catch {
    return ""; // the trap itself has to be told
  }
}
