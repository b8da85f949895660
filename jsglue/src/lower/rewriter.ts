// The rewriter: package polyfill/lower, in a file of its own that is loaded when a module needs it.

import { WebAssembly } from "../platform.js";
import { words } from "../errors.js";
import { sections } from "./sections.js";

/** jsglue/lower/main.go */
interface Rewriter {
  memory: WebAssembly.Memory;
  input(n: number): number;
  marks(n: number): number;
  lower(all: boolean, own: boolean): number;
  waits(): number;
  output(): number;
  output_len(): number;
}

// What lower returns.
const LOWERED = 1;
const INVALID = 2;
const REFUSED = 3;

declare const process: { getBuiltinModule?(name: string): any } | undefined;

const file = (): URL => new URL("./fiberfill-lower.wasm", import.meta.url); // in this form bundlers know it

// Whether this bundle is split into chunks, said by the build tool.
declare const SPLIT: boolean;

let program: WebAssembly.Module | undefined;

/**
 * Loads the rewriter, unless it is loaded: from a chunk, which every bundler finds, or from a file beside this script.
 */
export async function load(): Promise<void> {
  if (program) return;
  if (SPLIT) {
    try {
      const { default: bytes } = await import("../../lower/lower.wasm");
      program ??= await WebAssembly.compile(bytes as BufferSource);
    } catch (error) {
      missing("its chunk", error);
    }
    return;
  }
  const url = file();
  if (url.protocol === "file:") return loadNow();
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    program ??= await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    missing(url, error);
  }
}

/** The same for functions that must answer at once: in a page it makes a synchronous request. */
export function loadNow(): void {
  if (program) return;
  const url = file();
  try {
    program = new WebAssembly.Module((url.protocol === "file:" ? fromFile(url) : fromServer(url)) as BufferSource);
  } catch (error) {
    missing(url, error);
  }
}

function fromFile(url: URL): Uint8Array {
  const files = typeof process === "object" && process.getBuiltinModule?.("node:fs");
  if (!files) throw new Error("nothing here reads files at once");
  return files.readFileSync(url);
}

function fromServer(url: URL): Uint8Array {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.overrideMimeType("text/plain; charset=x-user-defined"); // each byte is a character, its low eight bits
  request.send();
  if (request.status !== 200) throw new Error(`status ${request.status}`);
  return Uint8Array.from(request.responseText, (c) => c.charCodeAt(0) & 0xff);
}

function missing(from: unknown, error: unknown): never {
  const remedy = "; serve fiberfill-lower.wasm beside the script that imports fiberfill/webassembly";
  refuse(
    `the rewriter, which this module needs, cannot be loaded from ${from}: ${words(error)}` +
      (from instanceof URL ? remedy : ""),
    error,
  );
}

function refuse(sentence: string, cause?: unknown): never {
  throw new (WebAssembly.CompileError as any)(`fiberfill: ${sentence}`, cause && { cause });
}

/** The rewriter recurses into blocks, on the engine's stack. Firefox alone has InternalError. */
const isStackOverflow = (error: unknown) => error instanceof RangeError || (error as Error).name === "InternalError";

const LARGE = 8e6; // bytes
const SECONDS = 0.3; // a megabyte takes that long at most

const told = new Set<number>(); // of modules by their size: a program may load the same one again and again

function tellIfLarge(bytes: Uint8Array): void {
  if (bytes.length < LARGE || told.has(bytes.length)) return;
  told.add(bytes.length);
  const size = bytes.length / 1e6;
  console.warn(
    `fiberfill: a module of ${size.toFixed(0)} MB is being rewritten so that its functions can leave their stack. ` +
      `That takes up to ${Math.ceil(size * SECONDS)} seconds, and the result is larger: by half as a rule, and ` +
      "several times if most functions keep references or call within a try. " +
      "For imports that wait, engines with JSPI take the module as it is: " +
      "Node 25, Chrome 137, Firefox 153, Safari 27 and newer.",
  );
}

/** Whether bytes are those of a module that any version of fiberfill has lowered. */
export function isRewritten(bytes: Uint8Array): boolean {
  const name = "\x0ffiberfill.lower"; // of the custom section, with its length
  for (const [id, contents] of sections(bytes))
    if (id === 0 && String.fromCharCode(...contents.subarray(0, name.length)) === name) return true;
  return false;
}

/**
 * Lowers a module, in an instance that is thrown away. Returns undefined if there is nothing to lower. Throws a
 * CompileError that says what is wrong with the module, or what in it cannot be lowered. The rewriter must be loaded.
 * With `all`, functions that use none of the instructions are changed, too. `marks` says which imported functions may
 * be left, by a byte for each; without it all of them may. With `own` the module is one of fiberfill's: its imports
 * from "wait" are Waiting, and it keeps one reference to each continuation, which is good for all resumes.
 */
export function lower(bytes: Uint8Array, all: boolean, marks?: Uint8Array, own = false): Uint8Array | undefined {
  tellIfLarge(bytes);
  return rewrite(bytes, marks, (rewriter) => rewriter.lower(all, own));
}

/**
 * Makes the module in which the marked imports of a guest wait: a function f<i> for import i, which calls the import
 * wait.<i>. It needs only the guest's sections before the code.
 */
export function waitsOf(guest: Uint8Array, marks: Uint8Array): Uint8Array {
  return rewrite(guest, marks, (rewriter) => rewriter.waits())!;
}

function rewrite(
  bytes: Uint8Array,
  marks: Uint8Array | undefined,
  how: (rewriter: Rewriter) => number,
): Uint8Array | undefined {
  const { exports } = new WebAssembly.Instance(program!, {});
  (exports["_initialize"] as () => void)();
  const rewriter = exports as unknown as Rewriter;
  const at = rewriter.input(bytes.length) >>> 0;
  new Uint8Array(rewriter.memory.buffer).set(bytes, at);
  if (marks) {
    const at = rewriter.marks(marks.length) >>> 0;
    new Uint8Array(rewriter.memory.buffer).set(marks, at);
  }
  let outcome;
  try {
    outcome = how(rewriter);
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    refuse(
      "cannot lower this module, blocks with calls that may suspend nest deeper in it than the stack allows; " +
        "a larger stack (Node's --stack-size) or smaller functions help",
      error,
    );
  }
  const output = rewriter.output() >>> 0;
  const result = new Uint8Array(rewriter.memory.buffer, output, rewriter.output_len());
  switch (outcome) {
    case LOWERED:
      return result.slice();
    case INVALID:
    case REFUSED: {
      const sentence = new TextDecoder().decode(result);
      refuse(outcome === REFUSED ? "cannot lower this module, " + sentence : sentence);
    }
  }
  return undefined;
}
