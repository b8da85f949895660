// Random modules: wasm-opt makes one of any bytes. The program is run in this process, again and again, since starting
// it costs more than the rest.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import { random } from "./random.mjs";

const require = createRequire(import.meta.url);
const source = readFileSync(new URL("../../node_modules/binaryen/bin/wasm-opt", import.meta.url), "utf8");
const program = compileFunction(source.replace(/^#!.*/, ""), [
  "Module",
  "WebAssembly",
  "process",
  "require",
  "__dirname",
]);
let compiled;
const platform = {
  ...Object.fromEntries(Object.getOwnPropertyNames(WebAssembly).map((name) => [name, WebAssembly[name]])),
  async instantiate(bytes, imports) {
    compiled ??= await WebAssembly.compile(bytes);
    return { module: compiled, instance: await WebAssembly.instantiate(compiled, imports) };
  },
};

/** Resolves to the module of a seed. */
export async function fuzz(seed, flags) {
  const next = random(seed);
  const dir = mkdtempSync(join(tmpdir(), "fiberfill-fuzz-"));
  try {
    const [input, output] = [join(dir, "input"), join(dir, "module.wasm")];
    writeFileSync(
      input,
      Uint8Array.from({ length: 400 + next(2000) }, () => next(256)),
    );
    await new Promise((resolve, reject) => {
      const argv = ["node", "wasm-opt", input, "-ttf", "--vacuum", ...flags, "-o", output];
      const Module = { arguments: argv.slice(2), postRun: resolve, onExit: resolve, onAbort: reject };
      program(Module, platform, { ...process, argv, versions: process.versions, on() {} }, require, dir);
    });
    return readFileSync(output);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
