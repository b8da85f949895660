// What lowered modules share: the state of the driver (jsglue/lower/driver.wat), whose code is in each of them, and
// what the driver needs from JavaScript. A realm has one driver, even if it has several copies of fiberfill:
// continuations of one copy pass through modules of another.

import driverBytes from "../../lower/driver.wasm";
import { WebAssembly } from "../platform.js";
import type { Guarded } from "./tables.js";

/** What polyfill/lower and the driver agree on. */
export const VERSION = 6;

/** Exports of driver.wat that are used here; lowered modules import most of the others. */
export interface Driver extends WebAssembly.Exports {
  newTag(name: number): object & WebAssembly.ExportValue;
  tagNumber(tag: object): number;
  reset(depth: number): void;
  boom(): never;
  /** The number of the n-th tag that a resume around handles, by switching or not; -1: there are no more. */
  handled(n: number, switches: number): number;
  state: WebAssembly.Global;
  /** What changes at each switch. */
  realm: WebAssembly.Global;
  /** Puts a stack, or null, into the place of the one that is current, and returns that one. */
  exchange(stack: object | null): object | null;
  /** The frame to which the frame that has thrown or trapped last would have returned; null if that is not known. */
  below: WebAssembly.Global;
  /** A function that barriers call before they call JavaScript; null: none. */
  told: WebAssembly.Global;
  /** The identity of the tag that imports wait by. */
  wait: WebAssembly.Global;
}

/** What is known of a Tag: its identity in wasm and, if it has results, its type, which no engine knows. */
export interface Identity {
  id: WebAssembly.ExportValue;
  type: string;
}

/** What all copies of fiberfill in a realm share. */
export interface Shared {
  driver: Driver;
  /** What the driver imports from JavaScript. */
  host: Record<string, Function>;
  tags: WeakMap<object, Identity>;
  /** Globals that hold continuations. */
  conts: WeakSet<object>;
  /** Functions that can be left: their callers know what to do when such a function returns. */
  lowered: WeakSet<object>;
  /** Tables that lowered modules use (tables.ts). */
  tables: WeakMap<object, Guarded>;
  /** For each function that cannot be left, its barrier in those tables; and the reverse. */
  barriers: WeakMap<object, Function>;
  behind: WeakMap<object, Function>;
  /** By name, as modules import them. */
  registers: Map<string, WebAssembly.ExportValue>;
  tagNames: string[];
}

const KEY = Symbol.for(`fiberfill.lower.${VERSION}`);

let here: Shared | undefined;

/** Returns the driver and what belongs to it. Throws a CompileError in an engine that lacks what it needs. */
export function shared(): Shared {
  return (here ??= (globalThis as any)[KEY] ??= make());
}

/** Whether anything has been lowered in this realm. */
export const started = (): boolean => here !== undefined || KEY in globalThis;

function make(): Shared {
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(driverBytes as BufferSource);
  } catch (error) {
    throw new (WebAssembly.CompileError as any)(
      "fiberfill: this engine lacks what continuations are made of, garbage collection and exception references: " +
        "they are in Node 22, Bun 1.2, Chrome 137, Firefox 131, Safari 18.4, and in what is newer",
      { cause: error },
    );
  }
  const tagNames: string[] = [""];
  const host = {
    room,
    // The one frame of JavaScript below everything that runs in a continuation: no handler in wasm sees a trap.
    // Why: RATIONALE.md, "Why does the outermost resume go through JavaScript?".
    outermost(depth: number, enter: () => void): void {
      try {
        enter();
      } catch (error) {
        driver.reset(depth);
        throw error;
      }
    },
    // Wasm catches what JavaScript throws, but not a trap, even if JavaScript has caught the trap and throws it on.
    trap(code: number, tag: object | null): void {
      try {
        driver.boom();
      } catch (error) {
        if (error instanceof Error)
          error.message = message(code, tag && tagNames[driver.tagNumber(tag)], handled(code));
        throw error;
      }
    },
  };
  const driver = new WebAssembly.Instance(module).exports as Driver;
  return {
    driver,
    host,
    tags: new WeakMap(),
    conts: new WeakSet(),
    lowered: new WeakSet(),
    tables: new WeakMap(),
    barriers: new WeakMap(),
    behind: new WeakMap(),
    registers: new Map(),
    tagNames,
  };
}

const UNHANDLED = 3;
const NO_SWITCH = 4;
const NAMED = 10; // tags, at most

/** The names of the tags that are handled where a suspension or a switch has found no handler. */
function handled(code: number): string {
  const { driver, tagNames } = shared();
  const names = new Set<string>();
  if (code === UNHANDLED || code === NO_SWITCH) {
    for (let k = 0, n; k < NAMED && (n = driver.handled(k, code - UNHANDLED)) >= 0; k++) names.add(tagNames[n]!);
    names.delete(""); // fiberfill's own
  }
  return names.size > 0 ? `, only for ${[...names].join(", ")}` : "";
}

function message(code: number, tag: string | null | undefined, others: string): string {
  const name = tag ? `tag ${tag}` : "this tag";
  switch (code) {
    case 1:
      return "null continuation reference";
    case 2:
      return "continuation already consumed: a reference is good for one resume, switch or cont.bind";
    case UNHANDLED:
      return `unhandled tag: suspend with ${name}, and no resume around has (on $tag $label) for it${others}${BARRIER}`;
    case NO_SWITCH:
      return `unhandled tag: switch with ${name}, and no resume around has (on $tag switch) for it${others}${BARRIER}`;
    case 5:
      return "null exception reference";
    case 7:
      return "too many frames are saved: the engine's heap is almost full, and it would end the process";
  }
  return "200,000 continuations have been resumed inside of each other, and here is one more";
}

declare const process: { versions?: Record<string, string>; getBuiltinModule?(name: string): any } | undefined;
declare const performance: { memory?: { usedJSHeapSize: number; jsHeapSizeLimit: number } };

const YOUNG = 204e6; // bytes of V8's limit that only new objects may take, in Node 24, which reserves most for them

/**
 * Whether the engine's heap has room for more frames. V8 ends the process, or the tab, when its heap is full, and no
 * program can catch that; it tells how full the heap is. The other engines throw.
 * Why: RATIONALE.md, "Why does fiberfill ask how full V8's heap is?".
 */
function room(): boolean {
  let used: number | undefined, limit: number | undefined;
  if (typeof process === "object" && process.versions?.["v8"] && !process.versions["bun"]) {
    ({ used_heap_size: used, heap_size_limit: limit } =
      process.getBuiltinModule?.("node:v8").getHeapStatistics() ?? {});
  } else {
    ({ usedJSHeapSize: used, jsHeapSizeLimit: limit } = performance.memory ?? {});
  }
  return used === undefined || limit === undefined || used < Math.max(0.85 * (limit - YOUNG), 0.4 * limit);
}

const BARRIER = "; JavaScript, or a module that is not lowered, hides the handlers outside of it";

// One module each, since JavaScript can make globals of some types only.
const TYPES: Record<string, number[]> = {
  i32: [0x7f, 0x41, 0],
  i64: [0x7e, 0x42, 0],
  f32: [0x7d, 0x43, 0, 0, 0, 0],
  f64: [0x7c, 0x44, 0, 0, 0, 0, 0, 0, 0, 0],
  v128: [0x7b, 0xfd, 0x0c, ...new Array<number>(16).fill(0)],
  any: [0x6e, 0xd0, 0x71],
  func: [0x70, 0xd0, 0x73],
  extern: [0x6f, 0xd0, 0x72],
  exn: [0x69, 0xd0, 0x74],
};

/** The classes of registers, in the order of a lowered module's custom section. */
export const CLASSES = Object.keys(TYPES);

/** Returns the k-th register of a class: a global that all lowered modules share. */
export function register(kind: string, k: number): WebAssembly.ExportValue {
  const { registers } = shared();
  const name = `${kind}.${k}`;
  let found = registers.get(name);
  if (!found) {
    const [type, ...init] = TYPES[kind]!;
    const global = [1, type!, 1, ...init, 0x0b];
    const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 6, global.length, ...global, 7, 5, 1, 1, 0x72, 3, 0];
    found = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes))).exports["r"]!;
    registers.set(name, found);
  }
  return found;
}
