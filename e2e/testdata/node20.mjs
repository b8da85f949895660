// Importing works in an engine without JSPI; functions that need JSPI say so.
import { createRequire } from "node:module";

const told = async (entry, fiberfill) => {
  const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
  const response = new Response(bytes, { headers: { "Content-Type": "application/wasm" } });
  const refusals = [];
  for (const [name, arg] of [
    ["compile", bytes],
    ["instantiate", bytes],
    ["compileStreaming", response],
    ["instantiateStreaming", response],
  ]) {
    const error = await fiberfill[name](arg).then(
      () => ({ code: "none", message: "it resolved" }),
      (error) => error,
    );
    refusals.push({
      what: `${entry} ${name}`,
      code: error.code,
      message: error.message,
      fiberError: error instanceof fiberfill.FiberError,
    });
  }
  return refusals;
};

const before = Object.getOwnPropertyNames(globalThis).join();
const esm = await import("../../web/dist/npm/esm/index.js");
const cjs = createRequire(import.meta.url)("../../web/dist/npm/cjs/index.js");
const touched = before !== Object.getOwnPropertyNames(globalThis).join();
console.log(
  JSON.stringify({
    version: process.version,
    jspi: "Suspending" in WebAssembly,
    touched,
    refusals: [...(await told("esm", esm)), ...(await told("cjs", cjs))],
  }),
);
