// fiberfill/webassembly: a namespace of the platform's shape for code that was written for JSPI. Importing it touches
// no global.

export { namespace as WebAssembly } from "../../jsglue/src/api/webassembly.js";
