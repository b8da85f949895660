// What a page gets by a script tag: the global `fiberfill` (cmd/build names it).

export * from "./index.js";
