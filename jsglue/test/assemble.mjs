// WebAssembly text for tests.

import binaryen from "binaryen";

const { All, CompactImports } = binaryen.Features;

/** Returns the bytes of a module. `passes` are Binaryen passes to run on it first. */
export function assemble(text, passes = []) {
  const module = binaryen.parseText(text);
  module.setFeatures(All & ~CompactImports); // which no engine accepts yet
  module.runPasses(passes);
  const binary = module.emitBinary();
  module.dispose();
  return binary;
}
