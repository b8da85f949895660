// How arguments reach an export and results come back. A thunk (package jsglue/stubs) asks for its arguments one by one
// and delivers its results one by one, through functions of the parameter's and result's own types, so that the engine
// converts and nothing is marshalled here.
//
// A string or bytes, where the guest wants an i32, becomes two: they are copied to the fiber's own stack and passed as
// address and length.
// Why: RATIONALE.md, "Why must arguments be of the right type and number?".

import { FiberError } from "../errors.js";
import type { Call } from "./call.js";
import { describe, viewOf } from "../values.js";

/** The import of module B with this name: "arg:<type>" or "result:<type>", the first byte of the type. */
export function transfer(name: string): Function {
  if (name.startsWith("result:")) return result;
  return arg[name] ?? reference;
}

function result(call: Call, i: number, value: unknown): void {
  if (i === 0) call.result = value;
  else if (i === 1) call.result = [call.result, value];
  else (call.result as unknown[]).push(value);
}

const arg: Record<string, (call: Call, i: number) => unknown> = {
  "arg:127": (call, i) => {
    const { length } = call;
    if (length !== undefined) {
      call.length = undefined;
      return length;
    }
    const bytes = call.encoded.bytes?.[i - call.placed];
    if (bytes) {
      if (!SCRIPT_TAG) refuseSurplus(call, i);
      return place(call, i, bytes);
    }
    return number(call, i, "i32");
  },
  "arg:126": (call, i) => {
    const value = take(call, i);
    return typeof value === "bigint" || (!SCRIPT_TAG && call.thunk.jspi)
      ? value
      : wrong(call, i, "i64", value, "pass a BigInt");
  },
  "arg:125": (call, i) => number(call, i, "f32"),
  "arg:124": (call, i) => number(call, i, "f64"),
};

const reference = take;

function take(call: Call, i: number): unknown {
  if (!SCRIPT_TAG && call.thunk.jspi) return call.args[i];
  const argument = i - call.placed;
  if (argument >= call.args.length) {
    throw new FiberError(
      "bad-argument",
      `export ${call.exportName} takes ${call.thunk.parameters} parameters; nothing was passed for parameter ${i + 1}`,
      { fiber: call.name },
    );
  }
  return call.args[argument];
}

function number(call: Call, i: number, type: string): unknown {
  const value = take(call, i);
  if (typeof value === "number" || typeof value === "boolean" || (!SCRIPT_TAG && call.thunk.jspi)) return value;
  return wrong(call, i, type, value, "pass a number");
}

function wrong(call: Call, i: number, type: string, value: unknown, remedy: string): never {
  const text = `parameter ${i + 1} of export ${call.exportName} is an ${type}, got ${describe(value)}: ${remedy}`;
  throw new FiberError("bad-argument", text, { fiber: call.name });
}

/**
 * Surplus arguments are ignored, as in every function of JavaScript. But if a string for parameters i and i + 1 leaves
 * too few for the others, most likely a number was passed as a string, and the guest would compute with its address.
 * (map and forEach pass an index and the array, too.)
 */
function refuseSurplus({ args, placed, thunk, exportName, name }: Call, i: number): void {
  const [value, index, array] = args as any[];
  const passed = args.length === 3 && array?.[index] === value ? 1 : args.length;
  const argument = i - placed;
  if (passed - argument < thunk.parameters - i) return;
  const text =
    `argument ${argument + 1} of export ${exportName}, ${describe(args[argument])}, takes two parameters, for its ` +
    `address and its length; of the ${thunk.parameters} that leaves too few. If a number is meant, pass a number`;
  throw new FiberError("bad-argument", text, { fiber: name });
}

function place(call: Call, i: number, bytes: Uint8Array): number {
  if (i + 1 >= call.thunk.parameters) {
    throw new FiberError(
      "bad-argument",
      `export ${call.exportName} has no parameter behind number ${i + 1} for the length of what was passed there, ` +
        describe(call.args[i - call.placed]),
      { fiber: call.name },
    );
  }
  const at = call.top || call.binding.makeRoom(call);
  if (at === 0) throw noRoom(call);
  call.binding.bytes().set(bytes, at);
  call.top = at + bytes.length;
  call.placed++;
  call.length = bytes.length;
  return at;
}

function noRoom({ binding, encoded, exportName, name }: Call): FiberError {
  const why =
    binding.memory && binding.stackPointer
      ? `the ${encoded.size} bytes passed to export ${exportName} do not fit on the fiber's stack; write them ` +
        `to the guest's memory and pass their address`
      : `export ${exportName} was given a string or bytes, and fiberfill knows of no stack in its guest's ` +
        `memory to put them on; name its pointer by shadowStack.pointer`;
  return new FiberError("bad-argument", why, { fiber: name });
}

// made when it is first needed: Jest's jsdom has none, but must be able to import this file
let encoder: TextEncoder | undefined;

/** The bytes among the arguments of a call, by argument, and how many there are together. */
export interface Encoded {
  bytes: (Uint8Array | undefined)[] | undefined;
  size: number;
}

/** For calls without such arguments, which are most. */
export const none: Encoded = { bytes: undefined, size: 0 };

/** Captures the strings and bytes among arguments: the caller may change its own afterwards. */
export function encode(args: readonly unknown[]): Encoded {
  let encoded = none;
  for (let i = 0; i < args.length; i++) {
    const value = args[i];
    const bytes =
      typeof value === "string"
        ? (encoder ??= new TextEncoder()).encode(value)
        : typeof value === "object" && value !== null
          ? copyOf(value)
          : undefined;
    if (!bytes) continue;
    if (encoded === none) encoded = { bytes: [], size: 0 };
    encoded.bytes![i] = bytes;
    encoded.size += bytes.length;
  }
  return encoded;
}

/**
 * A copy of the bytes of an object that has some. A detached buffer has none; what is wrong with that is told when the
 * fiber starts.
 */
function copyOf(value: object): Uint8Array | undefined {
  try {
    return viewOf(value)?.slice();
  } catch {
    return undefined;
  }
}
