// Asks the engine to validate modules. argv names a file that holds them, each after its length in four bytes. Writes
// one line for each module: empty if it is valid, else why it is refused.
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
