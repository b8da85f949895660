// How arguments reach an export and results come back. A thunk (package jsglue/stubs) asks for its arguments one by one
// and delivers its results one by one, through functions of the parameter's and result's own types, so that the engine
// converts and nothing is marshalled here.
//
// A string or bytes, where the guest wants an i32, becomes two: they are copied to the fiber's own stack and passed as
// address and length.

import { FiberError } from "../errors.js";
import type { Task } from "../api/fiber.js";
import { current } from "../turn/loop.js";
import { describe, viewOf } from "../values.js";

/** The import of module B with this name: "arg:<type>" or "result:<type>", the type in hex. */
export function transfer(name: string): Function {
  if (name.startsWith("result:")) return result;
  return arg[name] ?? reference;
}

function result(i: number, value: unknown): void {
  const task = current!;
  if (i === 0) task.result = value;
  else if (i === 1) task.result = [task.result, value];
  else (task.result as unknown[]).push(value);
}

const arg: Record<string, (i: number) => unknown> = {
  "arg:7f": (i) => {
    const task = current!;
    const { length } = task;
    if (length >= 0) {
      task.length = -1;
      return length;
    }
    const bytes = task.encoded.bytes?.[task.cursor];
    if (bytes) return place(task, i, bytes);
    return number(task, i, "i32");
  },
  "arg:7e": (i) => {
    const value = take(i);
    return typeof value === "bigint" || current!.thunk.jspi ? value : wrong(current!, i, "i64", value, "pass a BigInt");
  },
  "arg:7d": (i) => number(current!, i, "f32"),
  "arg:7c": (i) => number(current!, i, "f64"),
};

const reference = take;

function take(i: number): unknown {
  const task = current!;
  if (task.thunk.jspi) return task.args[i];
  if (task.cursor === task.args.length) {
    throw new FiberError(
      "bad-argument",
      `export ${task.exportName} takes ${task.thunk.parameters} parameters; nothing was passed for parameter ${i + 1}`,
      { fiber: task.name },
    );
  }
  return task.args[task.cursor++];
}

function number(task: Task, i: number, type: string): unknown {
  const value = take(i);
  if (typeof value === "number" || typeof value === "boolean" || task.thunk.jspi) return value;
  return wrong(task, i, type, value, "pass a number");
}

function wrong(task: Task, i: number, type: string, value: unknown, remedy: string): never {
  throw new FiberError(
    "bad-argument",
    `parameter ${i + 1} of export ${task.exportName} is an ${type}, got ${describe(value)}: ${remedy}`,
    { fiber: task.name },
  );
}

function place(task: Task, i: number, bytes: Uint8Array): number {
  if (i + 1 >= task.thunk.parameters) {
    throw new FiberError(
      "bad-argument",
      `export ${task.exportName} has no parameter behind number ${i + 1} for the length of what was passed there, ${describe(task.args[task.cursor])}`,
      { fiber: task.name },
    );
  }
  const at = task.top || task.binding.makeRoom(task);
  if (at === 0) throw noRoom(task);
  task.binding.bytes().set(bytes, at);
  task.top = at + bytes.length;
  task.cursor++;
  task.length = bytes.length;
  return at;
}

function noRoom({ binding, encoded, exportName, name }: Task): FiberError {
  const why =
    binding.memory && binding.stackPointer
      ? `the ${encoded.size} bytes passed to export ${exportName} do not fit on the fiber's stack; write them to the guest's memory and pass their address`
      : `export ${exportName} was given a string or bytes, and fiberfill knows of no stack in its guest's memory to put them on; if there is one, name by shadowStack.pointer what points to it`;
  return new FiberError("bad-argument", why, { fiber: name });
}

let encoder: TextEncoder | undefined; // not before it is needed: Jest's jsdom has none, and has to be able to import this

/** The bytes among the arguments of a call, by argument, and how many there are together. */
export interface Encoded {
  bytes: (Uint8Array | undefined)[] | undefined;
  size: number;
}

/** Of calls without such arguments, which are most. */
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
