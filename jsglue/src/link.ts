// Linking a guest: what stands between its exports and the workers, and between
// it and its imports, is put together in two steps, before and after the guest is
// instantiated. The wasm half, module A (trampolines) and module B (stubs and
// thunks), is made by package jsglue/wasm.

import { Binding, direct } from "./binding.js";
import type { Inspector } from "./core.js";
import type { Thunk } from "./exports.js";
import { generate, type Shape } from "./module.js";
import { REGION_SIZE, Regions, type RegionSource } from "./regions.js";
import { Suspending } from "./suspending.js";
import { transfer } from "./transfer.js";
import { workerModule } from "./workers.js";

/** A guest on its way to being instantiated. */
export class Link {
  /** Whether any import may wait. */
  readonly mayWait: boolean;
  /** What the platform is given to instantiate the guest with. */
  readonly imports: WebAssembly.Imports;

  readonly #binding = new Binding();
  readonly #exports: WebAssembly.ModuleExportDescriptor[];
  readonly #functions: unknown[]; // the values of the imports that are functions
  readonly #names: string[]; // theirs
  readonly #importedMemory: unknown;
  readonly #slots: WebAssembly.Exports;
  readonly #stubs: Uint8Array;
  readonly #source: RegionSource;

  /** values holds a value for each import of the module, marks among them. */
  constructor(core: Inspector, module: WebAssembly.Module, readonly shape: Shape, values: unknown[]) {
    const imports = WebAssembly.Module.imports(module);
    this.#exports = WebAssembly.Module.exports(module);
    this.#functions = values.filter((_, i) => imports[i]!.kind === "function");
    this.#names = imports.filter(({ kind }) => kind === "function").map(({ module, name }) => `${module}.${name}`);
    this.#importedMemory = values[imports.findIndex(({ kind }) => kind === "memory")];
    const marks = Uint8Array.from(this.#functions, (value) => (value instanceof Suspending ? 1 : 0));
    this.mayWait = marks.includes(1);
    this.#source = this.#exports.some(({ name }) => name === "free") && this.#malloc ? "allocator" : shape.grows ? "copy" : "grow";
    const { trampolines, stubs } = generate(core, shape, marks, this.#copies);
    this.#slots = instance(trampolines, {}).exports;
    this.#stubs = stubs;

    const linked: Record<string, Record<string, unknown>> = {};
    let f = 0;
    imports.forEach(({ module, name, kind }, i) => {
      const index = kind === "function" ? f++ : -1;
      (linked[module] ??= {})[name] = values[i] instanceof Suspending ? this.#slots[`f${index}`] : values[i];
    });
    this.imports = linked as WebAssembly.Imports;
  }

  /** Completes the border of the instance; returns the way to each of its exported functions, by the export's place. */
  complete(guest: WebAssembly.Instance): { binding: Binding; thunks: (Thunk | undefined)[] } {
    const { shape } = this;
    const binding = this.#binding;
    const exported = (k: number) => guest.exports[this.#exports[k]!.name];
    binding.memory = (shape.memory >= 0 ? exported(shape.memory) : this.#importedMemory) as WebAssembly.Memory | undefined;
    if (shape.stackPointer >= 0) {
      binding.stackPointer = exported(shape.stackPointer) as WebAssembly.Global;
      binding.base = binding.stackPointer.value as number;
    }
    if (this.#separate && !this.#copies) {
      const malloc = this.#malloc && (guest.exports[this.#malloc.name] as (n: number) => number);
      binding.regions = new Regions(this.#source, REGION_SIZE, binding.memory!, malloc);
    }
    const each = <T>(make: (value: Suspending, name: string) => T): Record<string, T> =>
      Object.fromEntries(this.#functions.flatMap((value, i) => (value instanceof Suspending ? [[i, make(value, this.#names[i]!)]] : [])));
    const b = instance(this.#stubs, {
      guest: new Proxy({}, { get: (_, k: string) => (k === "sp" ? binding.stackPointer : exported(Number(k))) }),
      slots: this.#slots,
      wait: each((value, name) => binding.waiting(name, value)),
      direct: each((value, name) => direct(name, value)),
      worker: workerModule(),
      js: new Proxy(binding.glue((i) => (this.#functions[i] as Suspending).always), { get: (glue, name: string) => glue[name] ?? transfer(name) }),
    }).exports;
    if (this.#copies) binding.parked = b["parked"] as WebAssembly.Global;
    const thunks = this.#exports.map(({ name, kind }, k) =>
      kind === "function" ? { name, job: b[`t${k}`] as Function, parameters: (guest.exports[name] as Function).length } : undefined,
    );
    return { binding, thunks };
  }

  /** A fiber that cannot wait needs no stack of its own: it is over before another starts. */
  get #separate(): boolean {
    return this.mayWait && this.shape.stackPointer >= 0;
  }

  get #copies(): boolean {
    return this.#separate && this.#source === "copy";
  }

  get #malloc(): WebAssembly.ModuleExportDescriptor | undefined {
    return this.#exports.find(({ name, kind }) => kind === "function" && name === "malloc");
  }
}

/** Instantiates one of the small generated modules. */
function instance(bytes: Uint8Array, imports: Record<string, unknown>): WebAssembly.Instance {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes as BufferSource), imports as WebAssembly.Imports);
}
