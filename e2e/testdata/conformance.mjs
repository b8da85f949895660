// Plays conformance scripts on stacks of fiberfill's own, outside of a page: node conformance.mjs scripts.json plain
// writes the results to scripts.json.out. With "plain" entries are plain calls, otherwise calls of fiberfill's exports.

import { readFileSync, writeFileSync } from "node:fs";
import * as fiberfill from "../../web/dist/npm/esm/index.js";

const [, , file, way] = process.argv;
const player = (path) => readFileSync(new URL(`../../polyfill/conformance${path}`, import.meta.url));
globalThis.fetch = player;
globalThis.fiberfill = {
  ...fiberfill,
  compileStreaming: (bytes) => fiberfill.compile(bytes, { stacks: "unwind" }),
  instantiate: (module, imports, options) => fiberfill.instantiate(module, imports, { ...options, stacks: "unwind" }),
};
await import("./pages/jspi.js");
const { scripts, traps } = JSON.parse(readFileSync(file, "utf8"));
writeFileSync(`${file}.out`, JSON.stringify(await globalThis.jspi.play(scripts, traps, way === "plain")));
process.exit();
