// What a page gets by a script tag: the global `fiberfill`. Name by name, because the bundler makes an object of
// getters of a namespace, which takes 60 bytes more in brotli.

import {
  Arena,
  Fiber,
  FiberError,
  all,
  arena,
  compile,
  compileStreaming,
  current,
  fibers,
  instantiate,
  instantiateStreaming,
  limits,
  log,
  observe,
  race,
  report,
  startLog,
  suspending,
  trace,
} from "./index.js";
import type * as api from "./index.js";

const fiberfill: typeof api = {
  Arena,
  Fiber,
  FiberError,
  all,
  arena,
  compile,
  compileStreaming,
  current,
  fibers,
  instantiate,
  instantiateStreaming,
  limits,
  log,
  observe,
  race,
  report,
  startLog,
  suspending,
  trace,
};

// By assignment, because a variable of a module (type="module", or a file that is imported) would not be global.
Object.assign(globalThis, { fiberfill });
