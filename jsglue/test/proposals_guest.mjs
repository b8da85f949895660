// The guests of testdata/, which have fibers of their own.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as fiberfill from "../../web/dist/npm/esm/index.js";

/**
 * An instance of testdata/<system>.wasm. `trail` is what it notes, `gates` end its waits, and `errors` is what its
 * import fail throws.
 */
export async function guest(system, options) {
  const g = { trail: [], gates: [], errors: [] };
  const env = {
    note(what) {
      g.trail.push(what);
      g.onNote?.();
    },
    wait: fiberfill.suspending(() => {
      if (g.onWait) return g.onWait();
      const gate = Promise.withResolvers();
      g.gates.push(gate);
      return gate.promise;
    }),
    fail(n) {
      const error = new Error(`failure ${n}`);
      g.errors.push(error);
      throw error;
    },
    call(f, argument) {
      try {
        return g.instance.exports.called(f, argument);
      } catch (error) {
        if (!g.swallows) throw error;
        g.errors.push(error);
        return 1;
      }
    },
  };
  Object.assign(
    g,
    await fiberfill.instantiate(readFileSync(new URL(`testdata/${system}.wasm`, import.meta.url)), { env }, options),
  );
  if ("init" in g.instance.exports) await g.exports.init();
  return g;
}

/** Asserts that none of a guest's own fibers is left. */
export const none = (g) =>
  assert.deepEqual(
    g.fibers().map(({ name, state }) => `${name} ${state}`),
    [],
  );
