// The guests of testdata/, which have fibers of their own.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as fiberfill from "../../web/dist/npm/esm/index.js";

/** Whether exports make plain calls. */
export let plainly = false;

/** From now on the exports of what {@link instantiate} returns make plain calls, on stacks of our own. */
export function callPlainly() {
  plainly = true;
}

/** As fiberfill's, for the suites that run with both kinds of calls. */
export async function instantiate(source, imports, options) {
  if (!plainly) return fiberfill.instantiate(source, imports, options);
  const g = await fiberfill.instantiate(source, imports, { ...options, stacks: "unwind" });
  const exports = Object.entries(g.instance.exports).map(([name, it]) => [
    name,
    typeof it === "function" ? plain(it, name) : it,
  ]);
  return { ...g, exports: Object.fromEntries(exports) };
}

/** A plain call as the suites know calls: a Promise with the name and the state of a fiber, and errors in its words. */
const plain =
  (fn, name) =>
  (...args) => {
    const call = { name: `${name}#0`, state: "done" };
    let result;
    try {
      result = Promise.resolve(fn(...args));
    } catch (error) {
      call.state = "failed";
      result = Promise.reject(isTrap(error) ? told(error, call.name, name) : error);
    }
    return Object.assign(result, call);
  };

function isTrap(error) {
  try {
    return error instanceof WebAssembly.RuntimeError;
  } catch {
    return false; // a revoked Proxy
  }
}

/** What a fiber would be rejected with. */
function told(error, fiber, name) {
  const { message, cause } = error;
  const code = cause?.code ?? "trap";
  const text = code === "trap" ? `fiber ${fiber} trapped in export ${name}: ${message}` : message;
  return Object.assign(new Error(text, { cause: cause ? undefined : error }), { code, fiber });
}

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
    await instantiate(readFileSync(new URL(`testdata/${system}.wasm`, import.meta.url)), { env }, options),
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
