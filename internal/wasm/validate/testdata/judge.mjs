// What the engine says of modules: argv names a file of them, each behind its length in four bytes. Writes a line for each:
// empty, or why it is refused.
import { readFileSync } from "node:fs";

const modules = readFileSync(process.argv[2]);
const verdicts = [];
for (let at = 0; at < modules.length;) {
  const end = at + 4 + modules.readUInt32LE(at);
  try {
    new WebAssembly.Module(modules.subarray(at + 4, end));
    verdicts.push("");
  } catch (error) {
    verdicts.push(error.message.replaceAll("\n", " "));
  }
  at = end;
}
console.log(verdicts.join("\n"));
