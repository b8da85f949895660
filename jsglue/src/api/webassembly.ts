// The platform's WebAssembly namespace, with JSPI's two functions implemented by fibers. Code written for JSPI imports
// this in place of the global and gets separate shadow stacks, a bound on live stacks, and cancellation.
//
// Here JSPI's specification wins over fiberfill's own conventions: a promising call starts inside the call, arguments
// are converted as the platform converts them, a Suspending import always waits, and errors are the platform's.
// Everything that is not JSPI's is the platform's own object.
//
// Functions that are not exports of an instance made here, and modules that the parser cannot read, get the platform's
// own promising and Suspending: they work as on raw JSPI. Calls of such functions still have shadow stacks of their
// own.
//
// In an engine without JSPI the stacks are fiberfill's own (substrate/unwind.ts). An instance is rewritten when its
// imports are known: if one of them is a Suspending, or may be left because it belongs to an instance that was, or if
// functions that wait may come into a table later.

import { CANNOT_TELL, inspector } from "../turn/core.js";
import type { Binding } from "../guest/binding.js";
import type { Call, Thunk } from "../guest/call.js";
import { newCall, type Fiber } from "./fiber.js";
import { allImports, exportsOf, importsOf } from "../guest/descriptors.js";
import { Link } from "../guest/link.js";
import { link as linkRewritten } from "../lower/link.js";
import type { Regions } from "../guest/regions.js";
import { ShadowStack, below, met, shared } from "../guest/shadowstack.js";
import { visit } from "../guest/visitor.js";
import { begin } from "../turn/spawn.js";
import { ready } from "../turn/turn.js";
import { inspect, type Shape } from "../guest/module.js";
import { canUnwind, hasJSPI, kindOf, needs } from "../substrate/choose.js";
import { jspi } from "../substrate/jspi.js";
import { guestModule } from "../substrate/modules.js";
import { mayBeLeft, unwindingNow } from "../substrate/unwind.js";
import { watchTables } from "../lower/tables.js";
import { shadowStack, type Options } from "../guest/options.js";
import { SuspendError, WebAssembly as platform } from "../platform.js";
import { Suspending as Mark } from "../guest/suspending.js";
import { has, isGlobal, isMemory, isModule, isObject, viewOf } from "../values.js";

const shapes = new WeakMap<WebAssembly.Module, Shape>();

/** How to reach an exported function of an instance made here. */
interface Way {
  complete(): { binding: Binding; thunks: (Thunk | undefined)[] };
  k: number; // the export's index
}

const ways = new WeakMap<Function, Way>();
const functions = new WeakMap<object, Function>(); // by Suspending object

const native = hasJSPI();
const ours = !native && canUnwind();

/** As specified for WebAssembly.promising. A call returns a Fiber, which is a Promise. */
function promising(fn: Function): (...args: unknown[]) => Promise<unknown> {
  kindOf(undefined); // throws where no stack can wait
  const way = ways.get(fn);
  if (!way) {
    const call = native ? platform.promising(fn) : plainly(fn);
    return alike((...args) => visit(() => call(...args)), fn);
  }
  const { binding, thunks } = way.complete();
  const thunk = { ...thunks[way.k]!, jspi: true };
  return alike((...args: unknown[]): Fiber<any> => {
    const made = newCall(thunk, binding, args);
    begin(made, (caller) => beginHere(made, caller as Call | undefined));
    return made.fiber;
  }, fn);
}

/** Begins a call below the code of another, or of JavaScript. */
function beginHere(call: Call, caller: Call | undefined): void {
  const { binding } = call;
  const back = shared ? below() : binding.stack?.below();
  if (caller && !caller.away) call.inside = true;
  try {
    binding.substrate.beginHere(call);
  } finally {
    back?.();
  }
}

/** Gives `call` the name and the length of `fn`, as the platform's promising does. */
export function alike<T extends Function>(call: T, fn: Function): T {
  return Object.defineProperties(call, { name: { value: fn.name }, length: { value: fn.length } });
}

/** The same for a function that cannot wait. */
function plainly(fn: Function): (...args: unknown[]) => Promise<unknown> {
  if (typeof fn !== "function") throw new TypeError("WebAssembly.promising(): Argument 0 must be a function");
  try {
    // A table takes functions of WebAssembly's only, and V8's those of asm.js, too, which alone have a prototype.
    new platform.Table({ element: "anyfunc", initial: 1 }).set(0, "prototype" in fn ? {} : fn);
  } catch {
    throw new TypeError("WebAssembly.promising(): Argument 0 must be a WebAssembly exported function");
  }
  return async (...args) => fn(...args);
}

/** The platform's Suspending, which also remembers the function that it wraps. */
const Suspending = native
  ? new Proxy(platform.Suspending, {
      construct(target, args, newTarget): object {
        const mark = Reflect.construct(target, args, newTarget === Suspending ? target : newTarget);
        functions.set(mark, args[0]);
        return mark;
      },
    })
  : new Proxy(
      class Suspending {
        static get name(): string {
          return "Suspending"; // minifiers change the class's own
        }

        constructor(fn: Function) {
          kindOf(undefined);
          if (typeof fn !== "function") throw new TypeError("WebAssembly.Suspending(): Argument 0 must be a function");
          functions.set(this, fn);
        }

        get [Symbol.toStringTag](): string {
          return "WebAssembly.Suspending";
        }
      },
      {
        apply(): never {
          throw new TypeError("WebAssembly.Suspending must be invoked with 'new'");
        },
      },
    );

if (!native) Object.defineProperty(Suspending.prototype, "constructor", { value: Suspending });

let defaults: Options["shadowStack"] & {} = {};

/**
 * Chooses how shadow stacks are kept in modules that are compiled from now on without options of their own: for
 * programs in which somebody else's code calls compile and instantiate. `{ pointer: null }` is for guests that keep
 * their stacks apart themselves; a call without an argument restores the default. Throws a FiberError if the options
 * are wrong.
 */
export function shadowStacks(chosen?: Options["shadowStack"]): void {
  defaults = shadowStack({ shadowStack: chosen });
}

/**
 * Returns the bytes to compile in place of the source's, valid until the next await, and what the parser found, if it
 * can read them. The platform's compile options may also hold fiberfill's shadow-stack options: the remedy for an
 * overflow is a larger size.
 */
function prepare(source: BufferSource, options: unknown): [BufferSource, Shape | undefined] {
  const view = viewOf(source)!;
  const given = typeof options === "object" && options !== null ? shadowStack(options) : {};
  const chosen = Object.values(given).some((value) => value !== undefined) ? given : defaults;
  const [shape, bytes] = inspect(inspector(view.length), view, chosen.pointer);
  if (typeof shape === "string") return [bytes as BufferSource, undefined];
  if (options !== undefined) shape.imports = allImports(shape.header); // those that the platform provides, too
  if (ours) {
    shape.bytes = bytes.slice();
    shape.options = options;
  }
  return [bytes as BufferSource, { ...shape, chosen }];
}

function isBuffer(source: unknown): source is BufferSource {
  return ArrayBuffer.isView(source) || has(ArrayBuffer, "byteLength", source);
}

function remember(module: WebAssembly.Module, shape: Shape | undefined): WebAssembly.Module {
  if (shape) shapes.set(module, shape);
  return module;
}

/**
 * Lists the guest's own exports, without what the module editor added: code written for JSPI copies all that it finds.
 */
const exports = alike((module: WebAssembly.Module) => {
  const shape = shapes.get(module);
  return shape ? exportsOf(module, shape).slice(0, shape.own) : platform.Module.exports(module);
}, platform.Module.exports);

const Module: typeof platform.Module = new Proxy(platform.Module, {
  get: (target, name, receiver) => (name === "exports" ? exports : Reflect.get(target, name, receiver)),
  construct(target, args, newTarget): WebAssembly.Module {
    const [source, shape] = isBuffer(args[0]) && (native || ours) ? prepare(args[0], args[1]) : [args[0], undefined];
    return remember(
      Reflect.construct(target, [source, ...args.slice(1)], newTarget === Module ? target : newTarget),
      shape,
    );
  },
});

/**
 * Reads an import object, each value once and in order, as the platform does. Returns no values if the platform is
 * going to refuse them, or if one is a Suspending that was not made here: nobody would see its waits, so the instance
 * runs on raw JSPI.
 */
function read(module: WebAssembly.Module, given: any, shape: Shape): [table: any, values?: unknown[]] {
  const listed = importsOf(module, shape);
  const imports = shape.imports ?? listed;
  if (!isObject(given))
    return given === undefined && listed.length === 0 ? [given, imports.map(() => undefined)] : [given];
  const table = Object.create(null);
  const values: unknown[] = [];
  let next = 0;
  for (const { module, name, kind } of imports) {
    if (module !== listed[next]?.module || name !== listed[next]!.name) {
      values.push(undefined); // provided by the platform
      continue;
    }
    next++;
    const from = given[module];
    if (!isObject(from)) {
      table[module] = from; // the platform fails here
      continue;
    }
    const value = from[name];
    (table[module] ??= Object.create(null))[name] = value;
    const fn = kind === "function" ? functions.get(value) : undefined;
    if (fn) values.push(new Mark(fn as (...args: any[]) => unknown, undefined, undefined, true));
    else if (kind !== "function" || typeof value === "function") values.push(value);
  }
  return values.length === imports.length ? [table, values] : [table];
}

/** Hides the exports that the module editor added, if any. */
function hide(
  instance: WebAssembly.Instance,
  all: WebAssembly.ModuleExportDescriptor[],
  own: number,
): WebAssembly.Instance {
  if (all.length === own) return instance;
  const value = Object.create(null);
  for (const { name } of all.slice(0, own)) value[name] = instance.exports[name];
  return Object.defineProperty(instance, "exports", { value: Object.freeze(value), configurable: true });
}

// Pyodide keeps its calls' stacks apart itself: its glue copies what lies between the stack pointer inside a call and
// the one outside, and takes the two to lie in one stack. It can be recognised only by the names of these imports.
const KEEPERS = ["saveState", "restoreState"];

function keepsStacks(imports: WebAssembly.ModuleImportDescriptor[]): boolean {
  return KEEPERS.every((wanted) =>
    imports.some(({ module, name, kind }) => module === "env" && name === wanted && kind === "function"),
  );
}

/** Records a new instance that may have a stack, because other guests' fibers may run its code. */
function meet(
  shape: Shape,
  all: WebAssembly.ModuleExportDescriptor[],
  values: unknown[],
  exports: WebAssembly.Exports,
  regions: () => Regions | undefined,
): void {
  const named = shape.chosen?.pointer;
  const pointer = exports[typeof named === "string" ? named : (all[shape.stackPointer]?.name ?? "")];
  const memory = exports[all[shape.memory]?.name ?? ""] ?? values.find(isMemory);
  if (!isGlobal(pointer) || !isMemory(memory)) return;
  const [, made] = ShadowStack.of(pointer, memory, regions);
  met(made, values, all);
}

interface Linked {
  /** What the platform is to instantiate, with which imports. */
  module: WebAssembly.Module;
  imports: any;
  /** Completes the instance. */
  made(instance: WebAssembly.Instance): WebAssembly.Instance;
}

function link(module: WebAssembly.Module, given: any): Linked {
  const shape = module instanceof platform.Module ? shapes.get(module) : undefined;
  const plain = (imports: any, made: (instance: WebAssembly.Instance) => WebAssembly.Instance): Linked => {
    const seen = watchTables(module, imports);
    return { module, imports, made: (instance) => (seen(instance), made(instance)) };
  };
  if (!shape) return plain(given, (instance) => instance);
  const [table, values] = read(module, given, shape);
  const all = exportsOf(module, shape);
  if (!values) return plain(table, (instance) => hide(instance, all, shape.own));
  const waits = values.some((value) => value instanceof Mark);
  if (waits) ready(ours ? "unwind" : "jspi");
  const imported = shape.imports ?? importsOf(module, shape);
  const keeps = keepsStacks(imported);
  const options = { shadowStack: keeps ? { pointer: null } : shape.chosen! };
  // Others may put functions into a table of its.
  const leaves =
    ours && (waits || values.some(mayBeLeft) || [...imported, ...all].some(({ kind }) => kind === "table"));
  const newLink = () => {
    const substrate = ours ? unwindingNow(needs) : jspi;
    return new Link(inspector(), module, shape, values, options, undefined, substrate, true);
  };
  let link = waits ? newLink() : undefined;
  let border: ReturnType<Link["complete"]> | undefined;
  const made = (instance: WebAssembly.Instance): WebAssembly.Instance => {
    const { exports } = instance; // including those that hide removes
    // Most instances of a page have nothing to do with fibers, so the border is made when promising is first called.
    const complete = () => {
      ready(ours ? "unwind" : "jspi");
      if (border) return border;
      border = (link ??= newLink()).complete({ exports });
      return border;
    };
    if (link) complete();
    else if (!keeps && shape.stackPointer !== CANNOT_TELL)
      meet(shape, all, values, exports, () => (link ??= newLink()).regions({ exports }));
    all.forEach(({ name, kind }, k) => {
      // An import that is exported again is another instance's function and runs on that instance's stack.
      if (kind === "function" && !ways.has(exports[name] as Function))
        ways.set(exports[name] as Function, { complete, k });
    });
    return hide(instance, all, shape.own);
  };
  const imports = link ? link.imports : table;
  if (!leaves) return plain(imports, made);
  const functions = values.filter((_, i) => imported[i]!.kind === "function");
  unwindingNow(needs);
  try {
    const lowered = guestModule(module, shape, functions, (value) => value instanceof Mark);
    const [linked, done] = linkRewritten(lowered, imports);
    return { module: lowered, imports: linked, made: (instance) => made((done(instance), instance)) };
  } catch (error) {
    // A module that cannot be rewritten runs as it is if none of its imports waits. A wait below its frames is refused.
    if (waits || !(error instanceof platform.CompileError)) throw error;
    return plain(imports, made);
  }
}

const Instance: typeof platform.Instance = new Proxy(platform.Instance, {
  construct(target, [module, given], newTarget): WebAssembly.Instance {
    const { module: linked, imports, made } = link(module, given);
    return made(Reflect.construct(target, [linked, imports], newTarget === Instance ? target : newTarget));
  },
});

async function compile(source: BufferSource, ...rest: unknown[]): Promise<WebAssembly.Module> {
  const [bytes, shape] = isBuffer(source) && (native || ours) ? prepare(source, rest[0]) : [source, undefined];
  return remember(await (platform.compile as Function)(bytes, ...rest), shape);
}

async function compileStreaming(
  source: Response | PromiseLike<Response>,
  ...rest: unknown[]
): Promise<WebAssembly.Module> {
  const response = await source;
  const copy = has(Response, "ok", response) && response.ok && !response.bodyUsed ? response.clone() : undefined;
  const module: WebAssembly.Module = await (platform.compileStreaming as Function)(response, ...rest);
  if (!copy || !(native || ours)) return module;
  const [bytes, shape] = prepare(await copy.arrayBuffer(), rest[0]);
  return remember(shape ? await (platform.compile as Function)(bytes, ...rest) : module, shape);
}

async function instantiateModule(module: WebAssembly.Module, given: any): Promise<WebAssembly.Instance> {
  const { module: linked, imports, made } = link(module, given);
  return made(await platform.instantiate(linked, imports));
}

/** instantiate and instantiateStreaming of a namespace with these functions. */
export function instantiations(
  compile: (source: BufferSource, ...rest: unknown[]) => Promise<WebAssembly.Module>,
  compileStreaming: (source: Response | PromiseLike<Response>, ...rest: unknown[]) => Promise<WebAssembly.Module>,
  instantiateModule: (module: WebAssembly.Module, given: any) => Promise<WebAssembly.Instance>,
) {
  async function instantiate(source: BufferSource | WebAssembly.Module, ...[given, ...rest]: any[]): Promise<unknown> {
    if (isModule(source)) return instantiateModule(source, given);
    if (!isBuffer(source)) return (platform.instantiate as Function)(source, given, ...rest);
    const module = await compile(source, ...rest);
    return { module, instance: await instantiateModule(module, given) };
  }
  async function instantiateStreaming(
    source: Response | PromiseLike<Response>,
    ...[given, ...rest]: any[]
  ): Promise<unknown> {
    const module = await compileStreaming(source, ...rest);
    return { module, instance: await instantiateModule(module, given) };
  }
  return { instantiate, instantiateStreaming };
}

/** The platform's namespace, and what JSPI adds to it. */
export type Namespace = typeof globalThis.WebAssembly & {
  /**
   * Returns the export as a function whose calls begin at once and return a Promise: a {@link Fiber}, if the instance
   * was made by this namespace. Throws a TypeError if `fn` is not an exported function.
   */
  promising<Args extends any[], Result>(fn: (...args: Args) => Result): (...args: Args) => Promise<Awaited<Result>>;
  promising(fn: Function): (...args: any[]) => Promise<any>;
  /** Marks an import that may wait: the call of it returns what the Promise that `fn` returns resolves to. */
  // Not a function, but TypeScript's type of an import object takes nothing else.
  Suspending: new (fn: Function) => Function;
  /** What an import throws that cannot wait, for instance below frames of JavaScript. */
  SuspendError: new (message?: string) => Error;
  /** The platform's compile, which takes {@link Options}, too: those for the shadow stack. */
  compile(bytes: BufferSource, options?: Options): Promise<WebAssembly.Module>;
  /** The platform's instantiate, which takes {@link Options}, too: those for the shadow stack. */
  instantiate(
    bytes: BufferSource,
    imports?: WebAssembly.Imports,
    options?: Options,
  ): Promise<WebAssembly.WebAssemblyInstantiatedSource>;
};

const own = {
  promising,
  Suspending,
  SuspendError,
  Module,
  Instance,
  compile,
  compileStreaming,
  ...instantiations(compile, compileStreaming, instantiateModule),
};

/** A namespace with other functions in it, each as visible as the one that it replaces. */
export function extended<T extends object>(base: T, own: object): T {
  const made = Object.create(Object.getPrototypeOf(base), Object.getOwnPropertyDescriptors(base));
  for (const [name, value] of Object.entries(own)) {
    // Web IDL makes the functions of a namespace enumerable, and its classes not.
    const { enumerable = /^[a-z]/.test(name) } = Object.getOwnPropertyDescriptor(base, name) ?? {};
    Object.defineProperty(made, name, { value, writable: true, enumerable, configurable: true });
  }
  return made;
}

/** The platform's namespace with the functions above in it. */
export const namespace = extended(platform as object, own) as Namespace;
