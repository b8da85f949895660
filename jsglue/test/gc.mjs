// Collecting garbage on demand, in the engines that tests run in.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

function collector() {
  if (globalThis.Bun) return () => globalThis.Bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

/** Collects all garbage before it returns. */
export const gc = collector();
