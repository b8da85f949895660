// fiberfill/polyfill: installs the namespace of fiberfill/webassembly as the global WebAssembly. Modules that were
// compiled before stay as they were.

import { WebAssembly as namespace } from "../../jsglue/src/api/namespace.js";

export { shadowStacks } from "../../jsglue/src/api/webassembly.js";

Object.defineProperty(globalThis, "WebAssembly", {
  value: namespace,
  writable: true,
  enumerable: false,
  configurable: true,
});
for (const constructor of [namespace.Module, namespace.Instance, namespace.Suspending]) {
  Object.defineProperty(constructor.prototype, "constructor", {
    value: constructor,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}
