// The frames of a guest's own fibers on the shadow stacks of other instances, whose functions call the guest back. Each
// fiber has a region of its guest's memory, but on another instance's stack the fibers of one call share a place: their
// frames lie below each other. So a fiber that has frames there may only go on while they are the lowest, as they were
// when it left. Any other order is refused.

import type { ShadowStack } from "../guest/shadowstack.js";

/**
 * How many bytes a call has on each stack of another instance. Stacks where it has none are left out, so that they can
 * be collected.
 */
export type Depths = ReadonlyMap<ShadowStack, number>;

const none: Depths = new Map();

/** What one fiber has there. */
export class Elsewhere {
  #call = 0; // in which it left
  #entered = none; // when it went on last
  #left = none;
  readonly #own = new Map<ShadowStack, number>(); // what it has pushed and not popped

  goesOn(depths: Depths): void {
    this.#entered = depths;
  }

  leaves(call: number, depths: Depths): void {
    this.#call = call;
    this.#left = depths;
    if (depths.size + this.#entered.size === 0) return;
    for (const stack of new Set([...depths.keys(), ...this.#entered.keys()])) {
      const own = (this.#own.get(stack) ?? 0) + (depths.get(stack) ?? 0) - (this.#entered.get(stack) ?? 0);
      if (own === 0) this.#own.delete(stack);
      else this.#own.set(stack, own);
    }
  }

  /** Its function has thrown: nobody has put the pointers back for the frames that the exception has left. */
  threw(call: number, depths: Depths): void {
    this.leaves(call, depths);
    for (const [stack, own] of this.#own) stack.pointer.value = stack.now + own;
  }

  /** Whether its frames are where they were, and the lowest. */
  fits(call: number, depths: Depths): boolean {
    for (const stack of this.#own.keys())
      if (call !== this.#call || depths.get(stack) !== this.#left.get(stack)) return false;
    return true;
  }
}
