// One job in Node: node node.js '<job as JSON>'. Prints progress, and what was measured as the last line.

import { run } from "./workloads.js";

console.log(JSON.stringify(await run(JSON.parse(process.argv[2]))));
process.exit(0); // a Go program that waits would keep it
