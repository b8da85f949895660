// WebAssembly text for tests.

import binaryen from "binaryen";

const { All, CompactImports } = binaryen.Features;

/** The bytes of a module, with its names or not; passes are Binaryen's, which are to change it before. */
export function assemble(text, passes = [], names = false) {
  binaryen.setDebugInfo(names);
  const module = binaryen.parseText(text);
  module.setFeatures(All & ~CompactImports); // which no engine accepts yet
  module.runPasses(passes);
  const binary = module.emitBinary();
  module.dispose();
  return binary;
}
