// Assembles a program, makes it tell its stack switches, and runs it.

import type Binaryen from "binaryen";
import { WebAssembly as lowering } from "../src/webassembly.js";
import { instrument } from "./instrument.js";
import { Recorder, type Recorded } from "./recorder.js";

export interface Run extends Recorded {
  /** Whether the engine accepts the program as it is. */
  native: boolean;
  result: string;
  error: string | undefined;
}

export function run(binaryen: typeof Binaryen, text: string): Run {
  const recorder = new Recorder();
  const { lanes, steps, output } = recorder;
  const run: Run = { lanes, steps, output, native: false, result: "", error: undefined };
  let begun = false;
  try {
    const plain = assemble(binaryen, text);
    run.native = WebAssembly.validate(plain.binary);
    new lowering.Module(plain.binary, { stacks: "unwind" }); // refuses the visitor's program, not what is made of it
    const told = instrument(plain.text);
    const module = new lowering.Module(assemble(binaryen, told.text).binary, { stacks: "unwind" });
    const page = { print: (...values: unknown[]) => recorder.print(values) };
    const { exports } = new lowering.Instance(module, { page, trace: recorder.imports(told.told) } as never);
    if (typeof exports.main !== "function") throw new Error('The program has no function that is exported as "main".');
    begun = true;
    const result: unknown = exports.main();
    run.result = result === undefined ? "" : String(result);
  } catch (error) {
    run.error = message(error);
    if (begun) recorder.failed(run.error);
  }
  return run;
}

function assemble(binaryen: typeof Binaryen, text: string): { binary: Uint8Array<ArrayBuffer>; text: string } {
  const { All, CompactImports } = binaryen.Features as typeof binaryen.Features & { CompactImports: number };
  binaryen.setDebugInfo(true);
  const module = binaryen.parseText(text);
  try {
    module.setFeatures(All & ~CompactImports);
    return { binary: module.emitBinary() as Uint8Array<ArrayBuffer>, text: module.emitText() };
  } finally {
    module.dispose();
  }
}

function message(error: unknown): string {
  const { name, message } = error as { name?: string; message?: string };
  if (name && /Error$/.test(name) && name !== "Error") return `${name}: ${message}`;
  if (typeof message !== "string") return String(error);
  const at = /^(\d+):(\d+): error: (.*)$/s.exec(message); // of Binaryen
  return at ? `Line ${at[1]}, column ${at[2]}: ${at[3]}` : message;
}
