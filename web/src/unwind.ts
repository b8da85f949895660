// What the script tag loads when a guest has stacks of fiberfill's own: jsglue/src/substrate/choose.ts.

export { unwinding } from "../../jsglue/src/substrate/unwind.js";
