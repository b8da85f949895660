// Runs one job in Node: node node.js '<job as JSON>'. Prints progress; the last line is the measurements.

import { run } from "./workloads.js";

console.log(JSON.stringify(await run(JSON.parse(process.argv[2]))));
process.exit(0); // a waiting Go program would keep Node alive
