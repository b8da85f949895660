// Linking a guest: what stands between its exports and the workers, and between it and its imports, is put together in
// two steps, before and after the guest is instantiated. The wasm half, module A (trampolines) and module B (stubs and
// thunks), is made by package jsglue/stubs.

import { Binding } from "./binding.js";
import { direct, waiting } from "./imports.js";
import { inspector, type Inspector } from "../turn/core.js";
import type { Thunk } from "./call.js";
import { generate, recall, type Shape } from "./module.js";
import { FiberError } from "../errors.js";
import { counted } from "../substrate/javascriptcore.js";
import { shadowStack, type Options } from "./options.js";
import { prepare } from "./panic.js";
import { exportsOf, importsOf } from "./descriptors.js";
import type { Machine } from "../proposals/load.js";
import { ShadowStack, met, share } from "./shadowstack.js";
import { Regions } from "./regions.js";
import { SOFT } from "../turn/scheduler.js";
import { Serial, turnsIn } from "./serial.js";
import { allocate, AT_ONCE, choose, DENIED, IMPORTED, OWN, type Plan } from "./stacks.js";
import { Suspending } from "./suspending.js";
import { transfer } from "./transfer.js";
import { unmarked } from "./unmarked.js";
import { jspi, workerModule } from "../substrate/jspi.js";

const nothing = { source: "none", why: undefined, told: false } as const;

/** A guest on its way to being instantiated. */
export class Link {
  /** What the platform is given to instantiate the guest with. */
  readonly imports: WebAssembly.Imports;

  /** The values of its imports that are functions; undefined stands for those that may wait. */
  get functions(): readonly unknown[] {
    return this.#functions.map((value) => (value instanceof Suspending ? undefined : value));
  }

  /** Any of its imports may wait. */
  readonly mayWait: boolean;

  readonly #binding: Binding;
  readonly #exports: WebAssembly.ModuleExportDescriptor[];
  readonly #values: unknown[]; // of the imports
  readonly #functions: unknown[]; // the values of the imports that are functions
  readonly #names: string[]; // theirs
  readonly #importedMemory: unknown;
  readonly #stack: ShadowStack | undefined; // of the pointer, if it is another guest's, too
  readonly #slots: WebAssembly.Exports;
  readonly #stubs: Uint8Array;
  readonly #plan: Plan;
  readonly #stackPointer: number; // which export; negative: none
  readonly #named: string | undefined; // its export, by the user
  readonly #unsized: boolean; // nobody has said which size

  readonly #machine: Machine | undefined;

  /**
   * values holds a value for each import of the module: marks are among them, and undefined stands for an import that
   * the platform provides. machine is the one that the imported operations of the guest's own fibers belong to. atOnce
   * says that calls begin at once, as in JSPI.
   */
  constructor(
    core: Inspector,
    module: WebAssembly.Module,
    readonly shape: Shape,
    values: unknown[],
    options?: Options,
    machine?: Machine,
    readonly substrate = jspi,
    atOnce = false,
  ) {
    this.#binding = new Binding(substrate);
    this.#machine = machine;
    const imports = shape.imports ?? importsOf(module, shape);
    this.#exports = exportsOf(module, shape);
    this.#functions = values.filter((_, i) => imports[i]!.kind === "function");
    this.#names = imports.filter(({ kind }) => kind === "function").map(({ module, name }) => `${module}.${name}`);
    this.#importedMemory = values[imports.findIndex(({ kind }) => kind === "memory")];
    const marks = Uint8Array.from(this.#functions, (value) => (value instanceof Suspending ? 1 : 0));
    this.mayWait = marks.includes(1);
    this.#values = values;
    const chosen = shadowStack(options);
    const allocator = chosen.allocator === undefined ? -1 : this.#find("allocator", "function", chosen.allocator);
    this.#stackPointer = this.#pointer(chosen.pointer);
    this.#named = typeof chosen.pointer === "string" ? chosen.pointer : undefined;
    const pointer = imports.flatMap(({ kind }, i) => (kind === "global" ? [values[i]] : []))[
      this.#stackPointer >= 0 ? shape.global : -1
    ];
    this.#stack = ShadowStack.at(pointer);
    this.#unsized = chosen.size === undefined;
    if (machine && shape.memory < 0 && !this.#importedMemory) {
      throw new FiberError("bad-guest", "a guest with fibers of its own needs a memory");
    }
    // A library that is linked to a running program is a guest of its own with the program's memory and stack, and what
    // it calls may wait: it uses the program's regions. They are asked for first, because making them may use the core.
    const theirs = this.mayWait ? this.#stack?.regions : undefined;
    recall(core, shape);
    const denied = chosen.pointer === null || (chosen.pointer === undefined && shape.denied);
    const plan = choose(
      core,
      denied ? Math.min(shape.global, 0) : this.#stackPointer,
      shape.growth,
      (denied ? DENIED : 0) | (machine ? OWN : 0) | (!SCRIPT_TAG && atOnce ? AT_ONCE : 0) | (pointer ? IMPORTED : 0),
      allocator,
      chosen,
    );
    this.#plan = theirs ? { ...plan, source: theirs.source, why: undefined, told: false } : plan;
    const { trampolines, stubs } = generate(core, marks, this.#stackPointer >= 0, !machine && this.#regions);
    // What a start function calls, where nothing can wait: the engine itself refuses imports that always wait.
    const start = this.#each((value, name) =>
      !SCRIPT_TAG && value.always ? waiting(this.#binding, name, value) : direct(name, value),
    );
    this.#slots = substrate.instance(trampolines, { start }).exports;
    this.#stubs = stubs;

    // Without a prototype: a module may call an import anything, "__proto__" too. One that it imports twice, with two
    // types, has two trampolines; the platform reads each import once, in order.
    const linked: Record<string, Record<string, unknown>> = Object.create(null);
    const lists = new Map<string, unknown[]>();
    let f = 0;
    imports.forEach(({ module, name, kind }, i) => {
      const index = kind === "function" ? f++ : -1;
      const value =
        values[i] instanceof Suspending
          ? this.#slots[`f${index}`]
          : counted(SCRIPT_TAG || atOnce || index < 0 ? values[i] : unmarked(values[i], `${module}.${name}`));
      const key = JSON.stringify([module, name]);
      const list = lists.get(key);
      if (list) return void list.push(value);
      const rest = [value];
      lists.set(key, rest);
      Object.defineProperty((linked[module] ??= Object.create(null)), name, {
        get: () => (rest.length > 1 ? rest.shift() : rest[0]),
      });
    });
    this.imports = linked as WebAssembly.Imports;
  }

  /** Completes the border of the instance. Returns a thunk for each exported function, by the export's place. */
  complete(guest: { exports: WebAssembly.Exports }): { binding: Binding; thunks: (Thunk | undefined)[] } {
    const binding = this.#binding;
    const exported = (k: number) => guest.exports[this.#exports[k]!.name];
    binding.memory = this.#memory(guest);
    if (this.#stackPointer >= 0) {
      binding.stackPointer = this.#pointerOf(guest);
      if (this.#named && !isPointer(binding.stackPointer)) {
        const { name } = this.#exports[this.#stackPointer]!;
        throw new FiberError(
          "bad-argument",
          `shadowStack.pointer is ${JSON.stringify(name)}, which is no mutable global of type i32`,
        );
      }
    }
    const { stackPointer, memory } = binding;
    let made = true;
    if (stackPointer) {
      [binding.stack, made] = ShadowStack.of(stackPointer, memory!, () => this.regions(guest));
      binding.base = binding.stack.base;
    }
    met(made, this.#values, this.#exports);
    if (this.#machine || this.#regions) binding.regions = binding.stack ? binding.stack.regions : this.regions(guest);
    // Without a wait a call needs no stack of its own: it is over before another starts.
    const { source, why } = (binding.plan = this.#separate ? this.#plan : { ...this.#plan, ...nothing });
    binding.copies = source === "copy" && !!stackPointer;
    if (source === "serial") binding.turns = turnsIn(memory ?? {});
    else if (this.#machine) binding.turns = new Serial();
    if (stackPointer && (source === "copy" || source === "serial")) share();
    binding.stacks = {
      source,
      size: binding.regions?.size,
      pointer: this.#named ?? (stackPointer ? this.shape.global : undefined),
      why,
    };
    const b = this.substrate.instance(this.#stubs, {
      guest: new Proxy(
        {},
        {
          get: (_, k: string) =>
            k === "sp" ? binding.stackPointer : k === "memory" ? binding.memory : exported(Number(k)),
        },
      ),
      slots: this.#slots,
      wait: this.#each((value, name) => waiting(binding, name, value)),
      direct: this.#each((value, name) => direct(name, value)),
      worker: workerModule(),
      js: new Proxy(binding.glue(SCRIPT_TAG ? undefined : (i) => (this.#functions[i] as Suspending).always), {
        get: (glue, name: string) => glue[name] ?? transfer(name),
      }),
    }).exports;
    binding.parked = b["parked"] as WebAssembly.Global | undefined;
    binding.low = b["low"] as WebAssembly.Global | undefined;
    if (binding.low) binding.stack!.lows.push(binding.low);
    binding.machine = this.#machine;
    if (!SCRIPT_TAG) prepare(binding, guest.exports);
    this.#machine?.attach(binding, guest, this.#exports);
    const thunks = this.#exports.map(({ name, kind }, k) =>
      kind === "function"
        ? { name, job: b[`t${k}`] as Function, parameters: (guest.exports[name] as Function).length }
        : undefined,
    );
    return { binding, thunks };
  }

  /** Regions in the memory of the instance, if it can have them. */
  regions(guest: { exports: WebAssembly.Exports }): Regions | undefined {
    const plan = this.#plan;
    const { source, size, malloc } = plan;
    if (source !== "allocator" && source !== "grow") return undefined;
    const own =
      !this.mayWait || (!SCRIPT_TAG && this.#functions.some((value) => value instanceof Suspending && value.always));
    const base = this.#stackPointer >= 0 ? ShadowStack.at(this.#pointerOf(guest))!.base : 0;
    return new Regions(
      source,
      own && this.#unsized ? inspector().size_like_own(base, this.shape.room, SOFT) : size,
      this.#memory(guest)!,
      (size) => allocate(guest.exports[this.#exports[malloc]!.name] as Function, plan, size),
    );
  }

  #memory({ exports }: { exports: WebAssembly.Exports }): WebAssembly.Memory | undefined {
    const { memory } = this.shape;
    return (memory >= 0 ? exports[this.#exports[memory]!.name] : this.#importedMemory) as
      WebAssembly.Memory | undefined;
  }

  #pointerOf({ exports }: { exports: WebAssembly.Exports }): WebAssembly.Global {
    return exports[this.#exports[this.#stackPointer]!.name] as WebAssembly.Global;
  }

  /** Something for each import that may wait, by its number among the functions. */
  #each<T>(make: (value: Suspending, name: string) => T): Record<string, T> {
    return Object.fromEntries(
      this.#functions.flatMap((value, i) => (value instanceof Suspending ? [[i, make(value, this.#names[i]!)]] : [])),
    );
  }

  get #separate(): boolean {
    return this.mayWait || !!this.#machine;
  }

  /** Each fiber has a region, which keeps its shadow stack apart. */
  get #regions(): boolean {
    const { source } = this.#plan;
    return this.#separate && this.#stackPointer >= 0 && (source === "allocator" || source === "grow");
  }

  /** Which export has the name that an option gives. */
  #find(option: string, kind: WebAssembly.ImportExportKind, named: string): number {
    const k = this.#exports.findIndex((each) => each.kind === kind && each.name === named);
    if (k < 0)
      throw new FiberError(
        "bad-argument",
        `shadowStack.${option} is ${JSON.stringify(named)}, and the guest exports no ${kind} of this name`,
      );
    return k;
  }

  #pointer(named: string | number | null | undefined): number {
    if (named === null) return -1;
    if (typeof named === "string") return this.#find("pointer", "global", named);
    if (named !== undefined && named !== this.shape.global) {
      throw new FiberError(
        "bad-argument",
        `shadowStack.pointer is ${named}, and this module was compiled for another or ` +
          `none; a global is named by its index when the module is compiled`,
      );
    }
    return this.shape.stackPointer;
  }
}

/** Whether a global is a mutable i32. JavaScript cannot ask; a module that imports such a global can tell. */
function isPointer(global: WebAssembly.Global): boolean {
  try {
    jspi.instance(takesPointer, { "": { "": global } });
    return true;
  } catch {
    return false;
  }
}

// (module (import "" "" (global (mut i32))))
const takesPointer = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 2, 6, 1, 0, 0, 3, 127, 1);
