// Compiling, and what has to be known of a module beside its compiled form.
//
// The stubs need the types of imports and exports, and a WebAssembly.Module does not tell them. So the bytes are
// parsed, in a throw-away instance of the core, and what was found is kept beside the Module. A guest that keeps its
// shadow stack's pointer or its memory to itself is edited to export them.

import { inspector, type Inspector } from "../turn/core.js";
import { FiberError, words } from "../errors.js";
import { kindOf } from "../substrate/choose.js";
import type { Kind } from "../substrate/substrate.js";
import { isJavaScriptCore } from "../substrate/javascriptcore.js";
import { shadowStack, type Options } from "./options.js";
import { WebAssembly } from "../platform.js";
import { describe, detached, has, viewOf, wrong } from "../values.js";

/** What the parser found. */
export interface Shape {
  /** The sections before the code: all that the stubs are made from. */
  header: Uint8Array;
  /** Which export is the shadow stack's pointer; -1 if there is none, CANNOT_TELL if that is not clear. */
  stackPointer: number;
  /** Which global that is; negative if there is none. */
  global: number;
  /** Which export is memory 0; -1 if it has none, or imports it. */
  memory: number;
  /** How many exports are the guest's own; the module editor has added those that follow. */
  own: number;
  /** The user said, when it was compiled, that it has none. */
  denied: boolean;
  /** What it does about the size of its memory: Growth of package wasm. */
  growth: number;
  /** By how many pages its memory may grow. */
  room: number;
  /** It is compiled and instantiated at once. */
  small: boolean;
  /** Its bytes, as they have been compiled, if they are to be changed when its imports are known. */
  bytes?: Uint8Array;
  /** The options with which the platform compiled them, and with which it compiles them again then. */
  options?: unknown;
  /** All its imports, if the platform provides some of them itself and lists only the others. */
  imports?: WebAssembly.ModuleImportDescriptor[];
  /** What has been chosen for its shadow stack when it was compiled by fiberfill/webassembly. */
  chosen?: Options["shadowStack"];
}

const shapes = new WeakMap<WebAssembly.Module, Shape>();

/**
 * Compiles a guest, as WebAssembly.compile does, and keeps what the parser found beside the module, so that
 * `instantiate` takes it any number of times. Of the options only stacks and
 * shadowStack.pointer matter here.
 */
export async function compile(source: BufferSource, options?: Options): Promise<WebAssembly.Module> {
  const kind = kindOf(options);
  const bytes = moduleBytes(source);
  return await known(bytes, kind, shadowStack(options)); // so that V8 knows who awaits it
}

/**
 * Compiles a guest while it arrives, as WebAssembly.compileStreaming does. A guest that has to be edited is compiled a
 * second time, when all of it has arrived.
 */
export async function compileStreaming(
  source: Response | PromiseLike<Response>,
  options?: Options,
): Promise<WebAssembly.Module> {
  const kind = kindOf(options);
  const chosen = shadowStack(options);
  const response = await source;
  if (!has(Response, "ok", response)) {
    throw new FiberError(
      "not-a-response",
      `compileStreaming takes a Response or a Promise of one, got ${describe(response)}`,
    );
  }
  const from = response.url || "the server";
  if (!response.ok) {
    throw new FiberError(
      "bad-response",
      `${from} answered with status ${`${response.status} ${response.statusText}`.trim()}`,
    );
  }
  const type = response.headers.get("content-type") ?? "";
  if (type.trim().toLowerCase() !== "application/wasm") {
    throw new FiberError(
      "wrong-mime-type",
      `${from} sent the MIME type ${JSON.stringify(type)}; a server must send wasm as application/wasm, without ` +
        "parameters",
    );
  }
  if (response.bodyUsed || response.body?.locked)
    throw new FiberError("bad-response", "the body of the Response has been used, or a reader has locked it");
  const copy = response.clone();
  const streamed = WebAssembly.compileStreaming(response);
  streamed.catch(() => {}); // looked at below, if the bytes arrive at all
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await copy.arrayBuffer());
  } catch (error) {
    throw new FiberError("bad-response", `${from} broke off: ${words(error)}`, {
      cause: error,
    });
  }
  return await known(bytes, kind, chosen, streamed);
}

/** Makes a module, and keeps what is known of it. `streamed` is what the engine has made of the same bytes. */
async function known(
  given: Uint8Array,
  kind: Kind,
  { pointer }: Options["shadowStack"] & {},
  streamed?: Promise<WebAssembly.Module>,
): Promise<WebAssembly.Module> {
  const [shape, bytes] = inspect(inspector(given.length), given, pointer);
  if (kind === "unwind" && typeof shape !== "string") shape.bytes = bytes.slice();
  const module =
    streamed && bytes.length === given.length ? await streamed.catch(notWasm) : await platformCompile(bytes);
  if (typeof shape === "string") throw new FiberError("unsupported-module", shape);
  shapes.set(module, shape);
  return module;
}

/** What is known of a module that one of the functions above has made. */
export function shapeOf(module: WebAssembly.Module): Shape {
  const shape = shapes.get(module);
  if (!shape) {
    throw new FiberError(
      "foreign-module",
      "this WebAssembly.Module was not compiled by this copy of fiberfill; compile its bytes with " +
        "fiberfill.compile or compileStreaming",
    );
  }
  return shape;
}

// Up to this size a module is compiled and instantiated at once: that takes a few tenths of a millisecond, and the way
// through another thread and back takes as long.
const SMALL = 1 << 16; // bytes

/** Copies the bytes before it returns, as the platform does. */
async function platformCompile(bytes: Uint8Array): Promise<WebAssembly.Module> {
  try {
    return bytes.length <= SMALL
      ? new WebAssembly.Module(bytes as BufferSource)
      : await WebAssembly.compile(bytes as BufferSource);
  } catch (error) {
    notWasm(error);
  }
}

function notWasm(error: unknown): never {
  throw new FiberError("not-wasm", `the engine does not take these bytes as a wasm module: ${words(error)}`, {
    cause: error,
  });
}

function moduleBytes(source: BufferSource): Uint8Array {
  const bytes = detached(source) ? undefined : viewOf(source);
  if (!bytes) throw wrong("a module's bytes are an ArrayBuffer or a view of one", source);
  return bytes;
}

/**
 * Parses a whole module; returns its shape, or a sentence if that fails, and the bytes to compile: longer ones, if it
 * had to be edited. They lie in the core's memory, so that there is one copy of a large module: the platform, which
 * makes its own, has to get them at once.
 */
export function inspect(
  core: Inspector,
  bytes: Uint8Array,
  pointer?: string | number | null,
): [Shape | string, Uint8Array] {
  const at = write(core, bytes);
  const [code, where, own, found, growth, room] = numbers(core, core.inspect(bytes.length));
  // Not earlier: the calls above may have grown the memory.
  const input = (size: number) => new Uint8Array(core.memory.buffer, at, size);
  if (code)
    return [
      `fiberfill cannot read this module (reason ${code} at byte ${where}), although the engine takes it`,
      input(bytes.length),
    ];
  const denied = pointer === null;
  // A pointer that the user names is exported already: link.ts finds it.
  const global = typeof pointer === "number" ? pointer : typeof pointer === "string" ? -1 : found;
  const exposed = core.expose(denied ? Math.min(global, -1) : global);
  if (!exposed) {
    throw new FiberError(
      "bad-argument",
      `shadowStack.pointer is ${pointer}, and the module has no mutable i32 global with this index`,
    );
  }
  const [stackPointer, memory, size, header] = numbers(core, exposed);
  const shape = {
    stackPointer,
    global,
    memory,
    own,
    denied,
    growth,
    room,
    small: bytes.length <= SMALL,
    header: input(header).slice(),
  };
  return [shape, input(size)];
}

/** Bytes for the core to read. */
export function write(core: Inspector, bytes: Uint8Array): number {
  const at = core.input(bytes.length) >>> 0; // may grow the memory
  new Uint8Array(core.memory.buffer).set(bytes, at);
  return at;
}

/** What the core has produced. */
export function output(core: Inspector, size: number): Uint8Array {
  const at = core.output() >>> 0;
  return new Uint8Array(core.memory.buffer).slice(at, at + size);
}

/** The numbers that the core has put at an address, one after the other: the structs of jsglue/core. */
export function numbers(core: Inspector, at: number): Words {
  return new Int32Array(core.memory.buffer, at) as Iterable<number> as Words;
}
type Words = [number, number, number, number, number, number, number, number, number];

/** Makes the core know a module again. */
export function recall(core: Inspector, { header }: Shape): void {
  write(core, header);
  core.inspect(header.length);
}

/**
 * The two modules between a guest, which the core knows, and its imports that may wait (package jsglue/stubs). marks
 * has a byte for each function import: 1 if it may wait.
 */
export function generate(
  core: Inspector,
  marks: Uint8Array,
  stackPointer: boolean,
  regions: boolean,
): { trampolines: Uint8Array; stubs: Uint8Array } {
  write(core, marks);
  const trampolines = output(core, core.trampolines(marks.length, !isJavaScriptCore()));
  return { trampolines, stubs: output(core, core.stubs(marks.length, stackPointer, regions)) };
}
