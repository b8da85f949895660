// What the script tag loads when a guest imports the operations of a proposal: jsglue/src/proposals/load.ts.

export { machine } from "../../jsglue/src/proposals/jumps.js";
