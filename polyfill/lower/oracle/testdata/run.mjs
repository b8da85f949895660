// Runs the programs of a file, one a line, through fiberfill/webassembly, and prints a line of JSON for each: what it
// logged, and how its calls ended.

import { readFileSync } from "node:fs";

const [, , namespace, programs] = process.argv;
const { WebAssembly } = await import(namespace);

const shown = (value) => (value === null || value === undefined ? "null" : String(value));
const shownAll = (values) => values.map(shown).join(",");

for (const line of readFileSync(programs, "utf8").trim().split("\n")) {
  const { modules, calls, tags } = JSON.parse(line);
  const log = [];
  const imports = { env: { log: (n) => void log.push(String(n)) } };
  try {
    for (const [i, bytes] of modules.entries()) {
      const module = new WebAssembly.Module(Buffer.from(bytes, "base64"));
      imports[`m${i}`] = new WebAssembly.Instance(module, imports).exports;
    }
    const exports = Object.assign({}, ...modules.map((_, i) => imports[`m${i}`]));
    const ended = (error) => {
      if (error instanceof WebAssembly.RuntimeError) return "trap";
      if (!(error instanceof WebAssembly.Exception)) return String(error);
      const [tag, params] = Object.entries(tags).find(([tag]) => error.is(exports[`t${tag}`]));
      const values = Array.from({ length: params }, (_, i) => error.getArg(exports[`t${tag}`], i));
      return `exception ${tag} ${shownAll(values)}`;
    };
    for (const { f, args, fuel } of calls) {
      exports.g0.value = fuel;
      try {
        log.push(`returned ${shownAll([exports[`f${f}`](...args)].flat().filter((value) => value !== undefined))}`);
      } catch (error) {
        log.push(ended(error));
      }
    }
  } catch (error) {
    log.push(String(error));
  }
  console.log(JSON.stringify(log));
}
