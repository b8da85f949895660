// Finds out where a stack of our own stands: the names of the functions whose frames it has saved, looked up on demand.
//
// A frame knows the function that goes on with it, and only the engine knows that function's name. So the function is
// entered with a frame that is not its own. The first thing that the function does is to check its frame, so it traps,
// and the trap's stack begins with the function's name.
// Why: RATIONALE.md, "Why is a frame's function asked by a trap?".

import { shared } from "./driver.js";
import { isA } from "../errors.js";
import { WebAssembly } from "../platform.js";
import { completeLater, engineStack } from "../stacktrace.js";
import frameBytes from "../../lower/frames.wasm";

/** jsglue/lower/frames.wat */
interface FrameModule {
  leaf(continuation: object | null): object | null;
  caller(frame: object): object | null;
  isOwn(frame: object): number;
  enter(frame: object): never;
}

let frameModule: FrameModule | undefined;

function frames(): FrameModule {
  return (frameModule ??= new WebAssembly.Instance(new WebAssembly.Module(frameBytes as BufferSource))
    .exports as unknown as FrameModule);
}

/** A function in a stack's text: as an engine writes it there, without the place in the code, and its name. */
interface Line {
  text: string;
  name: string;
}

const V8 = /^ *at (?:(.*) \()?wasm:\/\/wasm\/(?:(.*)-)?[\da-f]+:(wasm-function\[\d+\])/;
const SPIDER_MONKEY = /^(.*?)@.*:(wasm-function\[\d+\]):0x/;
const JAVASCRIPT_CORE = /^(.*)@(.*):(wasm-function\[\d+\])$/; // Safari 26
const EARLIER = /^(?:(.*)\.)?(wasm-function\[(.*)\])@\[wasm code\]/; // Safari 18

/** Reads a line of a stack's text; undefined: the line is no function of wasm, or the engine does not name it. */
function read(line: string): Line | undefined {
  const text = line.replace(/:0x[\da-f]+(?=\)?$)/, "");
  let found = V8.exec(line);
  if (found) {
    const [, name, module, index] = found;
    return { text, name: name === undefined || name === module ? index! : name };
  }
  found = SPIDER_MONKEY.exec(line);
  if (found) return { text, name: found[1] || found[2]! };
  let module, name, index;
  if ((found = JAVASCRIPT_CORE.exec(line))) [, name, module, index] = found;
  else if ((found = EARLIER.exec(line))) [, module, index, name] = found;
  else return undefined;
  // A function without a name has its number, or no name at all if others have names.
  if (!name || name === "(null)" || /^\d+$/.test(name)) return { text, name: index! };
  return { text, name: !module || module === "<?>" ? name : `${module}.${name}` };
}

/** The functions of frames from this one outwards; undefined if the engine does not name them. */
function functions(frame: object | null): Line[] | undefined {
  const { caller, enter, isOwn } = frames();
  const { exchange, state } = shared().driver;
  const running = exchange(null); // no stack has entered these frames
  let list: Line[] | undefined = [];
  for (let at = frame; at && list; at = caller(at)) {
    if (!isOwn(at)) continue;
    const lines = engineStack(() => enter(at!)).split("\n");
    state.value = 0;
    const found: Line[] = []; // down to enter, which JavaScript has called
    for (const text of lines) {
      const line = read(text);
      if (line) found.push(line);
      else if (found.length > 0) break;
    }
    found.pop();
    // Compact code is entered by a function of its own, and the function that this one calls traps.
    const line = found.at(-2) ?? found.at(-1);
    if (line) list.push(line);
    else list = undefined;
  }
  exchange(running);
  return list;
}

/**
 * The names of the functions whose frames a continuation has, innermost first; undefined if the engine names no
 * functions.
 */
export function savedFunctions(continuation: object | null): string[] | undefined {
  return functions(frames().leaf(continuation))?.map(({ name }) => name);
}

/**
 * The same of a fiber. The first frames are those of an import that waits, and the last is fiberfill's own: both are
 * left out.
 */
export function standsIn(continuation: object | null, imports: number): string[] | undefined {
  return savedFunctions(continuation)?.slice(imports, -1);
}

const restored = new WeakSet<object>();
let named: boolean | undefined; // the engine names functions

/**
 * Puts frames back into the stack of an error that has ended a call, when somebody reads the stack: the frames that the
 * engine does not know, since nothing has entered them after the call had waited. `brought` is what the wait threw, if
 * it did.
 */
export function restore(error: unknown, brought: unknown, trampolines: number): void {
  const { below } = shared().driver;
  const frame = below.value as object | null;
  below.value = null;
  if (!frame || !isA(error, Error) || restored.has(error)) return;
  // Bun 1.2 does not name functions, and crashes with a segmentation fault when it prints an error whose stack is an
  // accessor.
  if (!(named ??= functions(frame) !== undefined)) return;
  restored.add(error);
  try {
    completeLater(error, (stack) => joined(stack, frame, error === brought, trampolines));
  } catch {
    // A Proxy that refuses: its stack stays as it is.
  }
}

/** Where the guest's lines of a stack end and those of the loop in fiber.wat begin; -1: the loop is not there. */
function baseOf(lines: string[]): number {
  const outermost = lines.findLastIndex((line) => /^( *at )?outermost[ @]/.test(line));
  const inside = outermost < 0 ? lines : lines.slice(0, outermost);
  let at = inside.findLastIndex(isLoop);
  if (at >= 0) {
    while (at > 0 && isLoop(lines[at - 1]!)) at--;
    return at;
  }
  // Not told by V8: the driver for the fiber, the loop, and the export that begins it.
  return outermost < 0 ? -1 : outermost - 5;
}

const isLoop = (line: string): boolean => line.includes("wasm://wasm/fiberfill.fiber-");

/** An error's stack with these frames added: the guest's come before those that called the guest. */
function joined(stack: string, frame: object, rejected: boolean, trampolines: number): string {
  const lines = stack.trimEnd().split("\n");
  const base = baseOf(lines);
  // An error that a wait throws was made elsewhere, unless the import made it: then it has all frames that the import
  // was called from. If an error that was thrown here has no base, there were more frames than the engine writes.
  if (rejected === base >= 0) return stack;
  const more = functions(frame)?.slice(rejected ? trampolines : 0, -1);
  if (!more) return stack;
  lines.splice(rejected ? lines.length : base, 0, ...more.map(({ text }) => text));
  return lines.join("\n");
}
