// WebAssembly text for tests.

import binaryen from "binaryen";

const { All, CompactImports } = binaryen.Features;

/** The bytes of a module; passes are Binaryen's, which are to change it before. */
export function assemble(text, passes = []) {
  const module = binaryen.parseText(text);
  module.setFeatures(All & ~CompactImports); // which no engine takes yet
  module.runPasses(passes);
  const binary = module.emitBinary();
  module.dispose();
  return binary;
}
