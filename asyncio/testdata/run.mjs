// Runs one scenario against a Go program in Node and prints its result as JSON.
//   node run.mjs WASM_EXEC_JS PROGRAM_WASM SERVER_URL SCENARIO
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { scenarios } from "./scenarios.mjs";

const [wasmExec, wasm, server, scenario] = process.argv.slice(2);
await import(pathToFileURL(wasmExec));
const go = new Go();
const { instance } = await WebAssembly.instantiate(await readFile(wasm), go.importObject);
const exited = go.run(instance); // runs main until it waits for the first time
// An unhandled rejection ends Node with an error, and so fails the test, as it should.
const result = await scenarios[scenario](globalThis.program ?? globalThis.goFetch, server, exited);
console.log(JSON.stringify(result));
process.exit(0);
