// How the shadow stacks of a guest's calls are kept: package shadow, in the core, decides; its package comment says
// what there is to choose from. This file asks it, and has the words for users.

import { FiberError } from "../errors.js";
import type { Inspector } from "../turn/core.js";
import { numbers } from "./module.js";
import { SOURCES, type Options, type RegionSource } from "./options.js";

/** How the shadow stacks of a guest's calls are kept. */
export interface Stacks {
  /** Where they come from; "none" if there is nothing to keep apart: no import may wait, or there is no stack. */
  readonly source: RegionSource | "none";
  /** Bytes of each call's own region; undefined where calls have none. */
  readonly size: number | undefined;
  /** The index of the global that points to the guest's own stack, or the name of its export; undefined: none known. */
  readonly pointer: number | string | undefined;
  /** Why it is this source and no better one; undefined where nothing stands in the way of calls. */
  readonly why: string | undefined;
}

/** What has been chosen. */
export interface Plan {
  readonly source: RegionSource | "none";
  readonly size: number; // of a region
  readonly malloc: number; // which export allocates
  readonly params: number; // of malloc
  readonly wanders: boolean; // the pointer may be anywhere: the guest switches stacks itself
  readonly why: string | undefined;
  /** Reported once for a guest whose calls cannot overlap with stacks of their own, unless the user asked for that. */
  readonly told: boolean;
  /** Which reason it is: Why of package shadow. */
  readonly hindrance: number;
}

// As in jsglue/core/shadow.go: facts about a guest.
/** The user says that it has no stack. */
export const DENIED = 1;
/** It has fibers of its own, or is an actor. */
export const OWN = 2;
/** Its calls begin at once, as in JSPI. */
export const AT_ONCE = 4;
/** Its stack pointer is imported. */
export const IMPORTED = 8;

// As in package shadow.
const BY_NAME = 1; // the first reason
const NOWHERE = 4; // a refusal

const NAME = "name its stack pointer by shadowStack: { pointer }";

/**
 * Chooses for the module that the core has inspected last. `pointer` and `growth` are the results of the core's
 * functions stack_pointer and growth, `said` are the bits above, and `allocator` is an export, or -1. Throws a
 * FiberError if the user's choice is impossible.
 */
export function choose(
  core: Inspector,
  pointer: number,
  growth: number,
  said: number,
  allocator: number,
  { regions, size = 0 }: Options["shadowStack"] & {},
): Plan {
  const wanted = regions ? SOURCES.indexOf(regions) : 0;
  const [source, reason, bytes, malloc, params, wanders, refusal] = numbers(
    core,
    core.choose(pointer, growth, said, wanted, size, allocator),
  );
  const why = WHYS[reason - BY_NAME];
  if (refusal > 0) {
    const texts = [
      "shadowStack.allocator takes i32s (size), (size, align) or (0, 0, align, size), and returns one",
      "the guest exports no malloc and free; name others by shadowStack: { allocator }",
      NAME,
      `no stacks for its fibers: ${why}; export malloc and free, or ${NAME}`,
    ];
    throw new FiberError(refusal === NOWHERE ? "bad-guest" : "bad-argument", texts[refusal - 1]!);
  }
  return {
    source: SOURCES[source]!,
    size: bytes,
    malloc,
    params,
    wanders: wanders > 0,
    why,
    told: SCRIPT_TAG ? reason > BY_NAME : reason > BY_NAME && !(said & DENIED && said & AT_ONCE),
    hindrance: reason,
  };
}

/** Asks a guest's allocator for so many bytes. */
export function allocate(malloc: Function, { params }: Plan, size: number): number {
  return params === 1 ? malloc(size) : params === 2 ? malloc(size, 16) : malloc(0, 0, 16, size);
}
