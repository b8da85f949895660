// What can be chosen for a guest.

import type { Kind } from "../substrate/substrate.js";
import { wrong } from "../values.js";

/**
 * Where the shadow stacks of a guest's calls come from. `allocator`: the guest's own. `grow`: memory is grown; this
 * needs a guest whose allocator uses only the memory that memory.grow has returned to it. `serial`: there are none;
 * calls run one after another, each on the guest's one stack. `copy`: calls overlap on the one stack, and the used part
 * is copied out when a call waits, and back when it goes on; what is written to it meanwhile is lost. The default is
 * the first of these that the guest can bear, and never `copy`.
 */
export type RegionSource = "allocator" | "grow" | "serial" | "copy";

/** All sources, and none, as in package shadow. */
export const SOURCES = ["none", "allocator", "grow", "serial", "copy"] as const;

/** Choices for one guest; all of them have a default that suits most modules. */
export interface Options {
  /**
   * What holds the stacks of calls that wait: `jspi`, the engine's own, or `unwind`, ours: the guest is rewritten, so
   * that its functions can be left and entered again. By default it is the engine's own, if it has any. If a module is
   * compiled before it is instantiated, give `unwind` when you compile it.
   */
  stacks?: Kind | undefined;
  /** How shadow stacks are kept: the stacks in linear memory, where compilers keep locals whose address is taken. */
  shadowStack?:
    | undefined
    | {
        /**
         * What holds the guest's stack pointer: the name of an exported global, the index of a global (when it is
         * compiled from bytes), or null: it has none. Only needed where fiberfill cannot tell; there, and with null
         * where the code seems to use a stack, calls run one after another.
         */
        pointer?: string | number | null | undefined;
        /** Bytes for each fiber: a multiple of 16, at least 1024; 65536 by default. */
        size?: number | undefined;
        /** Where they come from, instead of the best source that the module can bear. */
        regions?: RegionSource | undefined;
        /**
         * The export that allocates, a function of (size), (size, align) or (0, 0, align, size) that returns an address
         * or 0. By default malloc, and other allocators that are known by their names.
         */
        allocator?: string | undefined;
      };
}

/** Checks the options of a call and returns those for the shadow stack. */
export function shadowStack(options: Options | undefined): NonNullable<Options["shadowStack"]> {
  if (options !== undefined && (typeof options !== "object" || options === null)) {
    throw wrong("options are an object such as { shadowStack: { size: 131072 } }", options);
  }
  const chosen = options?.shadowStack ?? {};
  if (typeof chosen !== "object") throw wrong("shadowStack is an object such as { size: 131072 }", chosen);
  const { pointer, size, regions, allocator } = chosen;
  if (size !== undefined && !(Number.isInteger(size) && size >= 1024 && size % 16 === 0 && size <= 0x4000_0000)) {
    throw wrong("shadowStack.size is a number of bytes: a multiple of 16 from 1024 to 1 GiB", size);
  }
  if (regions !== undefined && !(SOURCES.indexOf(regions) > 0)) {
    throw wrong('shadowStack.regions is "allocator", "grow", "serial" or "copy"', regions);
  }
  if (
    pointer !== undefined &&
    pointer !== null &&
    typeof pointer !== "string" &&
    !(typeof pointer === "number" && pointer >>> 0 === pointer)
  ) {
    throw wrong("shadowStack.pointer is the name of an export, the index of a global or null", pointer);
  }
  if (allocator !== undefined && typeof allocator !== "string") {
    throw wrong("shadowStack.allocator is the name of an export", allocator);
  }
  return { pointer, size, regions, allocator } as typeof chosen; // not chosen itself, whose getters may change
}
