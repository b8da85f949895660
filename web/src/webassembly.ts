// fiberfill/webassembly: a namespace of the platform's shape for code that was written for JSPI, and for modules
// with stack-switching instructions. Importing it touches no global.

export { shadowStacks } from "../../jsglue/src/api/webassembly.js";
export { WebAssembly } from "../../jsglue/src/api/namespace.js";
