// The platform's WebAssembly namespace with JSPI's own two functions on our fibers: code that was written for JSPI gets
// separate shadow stacks, a bound on live stacks and cancellation by importing this in the global's place.
//
// Here the specification of JSPI wins over our own habits: a promising call starts inside the call, arguments are
// converted as the platform does, a Suspending import always waits, and errors are the platform's. Whatever is not
// JSPI's is the platform's own object.
//
// Functions that are not exports of an instance made here, and modules that our parser cannot read, get the platform's
// own promising and Suspending: they work as raw JSPI does. Calls of the former have shadow stacks of their own all the
// same.

import { CANNOT_TELL, inspector } from "../turn/core.js";
import type { Binding } from "../guest/binding.js";
import type { Thunk } from "../guest/call.js";
import { newCall, type Fiber } from "./fiber.js";
import { Link } from "../guest/link.js";
import { onNewStack } from "../substrate/javascriptcore.js";
import { apart } from "../turn/apart.js";
import { begin } from "../turn/spawn.js";
import { ready } from "../turn/turn.js";
import { hasJSPI, inspect, needJSPI, type Shape } from "../guest/module.js";
import { shadowStack, type Options } from "../guest/options.js";
import { WebAssembly as platform } from "../platform.js";
import { Suspending as Mark } from "../guest/suspending.js";
import { has, isObject, then, viewOf } from "../values.js";

const shapes = new WeakMap<WebAssembly.Module, Shape>();

/** The way to an exported function of an instance made here. */
interface Way {
  complete(): { binding: Binding; thunks: (Thunk | undefined)[] };
  k: number; // which export it is
}

const ways = new WeakMap<Function, Way>();
const functions = new WeakMap<object, Function>(); // of Suspending objects

/** As specified for WebAssembly.promising; what a call returns is a Fiber, which is a Promise. */
function promising(fn: Function): (...args: unknown[]) => Promise<unknown> {
  needJSPI();
  const way = ways.get(fn);
  if (!way) {
    const call = platform.promising(fn);
    return alike((...args) => apart(() => onNewStack(() => withStacks(() => call(...args)))), fn);
  }
  const { binding, thunks } = way.complete();
  const thunk = { ...thunks[way.k]!, jspi: true };
  return alike((...args: unknown[]): Fiber<any> => {
    const made = newCall(thunk, binding, args);
    begin(made);
    return made.fiber;
  }, fn);
}

let guests: WeakRef<Binding>[] = []; // whose calls have regions

/**
 * Calls a function that is not an export. Nobody can tell whose it is: on the stack that it starts it has a region in
 * every guest.
 */
function withStacks(call: () => Promise<unknown>): Promise<unknown> {
  guests = guests.filter((guest) => guest.deref());
  const returns = guests.map((guest) => guest.deref()!.lend());
  const ended = () => returns.forEach((give) => give(true));
  try {
    const promise = call();
    then.call(promise, ended, ended);
    return promise;
  } catch (error) {
    ended();
    throw error;
  } finally {
    for (const give of returns) give(false);
  }
}

/** Gives a function the name and the length of the one that it stands for, as the platform's promising does. */
function alike<T extends Function>(call: T, fn: Function): T {
  return Object.defineProperties(call, { name: { value: fn.name }, length: { value: fn.length } });
}

/** The platform's, which remembers the functions. */
const Suspending = hasJSPI()
  ? new Proxy(platform.Suspending, {
      construct(target, args, newTarget): object {
        const mark = Reflect.construct(target, args, newTarget === Suspending ? target : newTarget);
        functions.set(mark, args[0]);
        return mark;
      },
    })
  : class Suspending {
      constructor() {
        needJSPI();
      }
    };

/**
 * The bytes to compile at once in the place of a source's, and what is known of them, if they can be read. Among the
 * platform's options for compiling may be ours for the shadow stack: an overflow asks for its size.
 */
function prepare(source: BufferSource, options: unknown): [BufferSource, Shape | undefined] {
  const view = viewOf(source)!;
  const chosen = typeof options === "object" && options !== null ? shadowStack(options) : {};
  const [shape, bytes] = inspect(inspector(view.length), view, chosen.pointer);
  if (typeof shape === "string") return [bytes as BufferSource, undefined];
  if (options !== undefined) shape.imports = allImports(shape.header);
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
 * All imports of a module, also its builtins and its constants that are strings, which the platform provides if options
 * say so.
 */
function allImports(header: Uint8Array): WebAssembly.ModuleImportDescriptor[] {
  let end = 8;
  while (header[end] === 1 || header[end] === 2) {
    // types, imports
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = header[++end]!;
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    end += 1 + size;
  }
  return platform.Module.imports(new platform.Module(header.slice(0, end)));
}

/** The guest's own exports: code written for JSPI copies all that it finds. */
const exports = alike(
  (module: WebAssembly.Module) => platform.Module.exports(module).slice(0, shapes.get(module)?.own),
  platform.Module.exports,
);

const Module: typeof platform.Module = new Proxy(platform.Module, {
  get: (target, name, receiver) => (name === "exports" ? exports : Reflect.get(target, name, receiver)),
  construct(target, args, newTarget): WebAssembly.Module {
    const [source, shape] = isBuffer(args[0]) && hasJSPI() ? prepare(args[0], args[1]) : [args[0], undefined];
    return remember(
      Reflect.construct(target, [source, ...args.slice(1)], newTarget === Module ? target : newTarget),
      shape,
    );
  },
});

/**
 * Reads an import object, each value once and in order, as the platform does. There are no values if the platform will
 * refuse them, and if one is a Suspending that was not made here: its waits are seen by nobody, so all is raw JSPI
 * then.
 */
function read(module: WebAssembly.Module, given: any, shape: Shape): [table: any, values?: unknown[]] {
  const listed = platform.Module.imports(module);
  const imports = shape.imports ?? listed;
  if (!isObject(given))
    return given === undefined && listed.length === 0 ? [given, imports.map(() => undefined)] : [given];
  const table = Object.create(null);
  const values: unknown[] = [];
  let next = 0;
  for (const { module, name, kind } of imports) {
    if (module !== listed[next]?.module || name !== listed[next]!.name) {
      values.push(undefined); // the platform provides it
      continue;
    }
    next++;
    const from = given[module];
    if (!isObject(from)) {
      table[module] = from; // the platform stops here
      continue;
    }
    const value = from[name];
    (table[module] ??= Object.create(null))[name] = value;
    const fn = kind === "function" ? functions.get(value) : undefined;
    if (fn) values.push(new Mark(fn as (...args: any[]) => unknown, undefined, true));
    else if (kind !== "function" || typeof value === "function") values.push(value);
  }
  return values.length === imports.length ? [table, values] : [table];
}

/** Hides what the module editor has added to an instance's exports, if anything. */
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

// Pyodide keeps its calls' stacks apart itself: its glue copies what lies between the pointer inside a call and the one
// outside, which it takes to be one stack. Only the names of these imports tell.
const KEEPERS = ["saveState", "restoreState"];

function keepsStacks(module: WebAssembly.Module): boolean {
  const imports = platform.Module.imports(module);
  return KEEPERS.every((wanted) =>
    imports.some(({ module, name, kind }) => module === "env" && name === wanted && kind === "function"),
  );
}

/** What the platform gets for imports, and what is to be done with the instance. */
function link(
  module: WebAssembly.Module,
  given: any,
): [imports: any, made: (instance: WebAssembly.Instance) => WebAssembly.Instance] {
  const shape = module instanceof platform.Module ? shapes.get(module) : undefined;
  if (!shape) return [given, (instance) => instance];
  const [table, values] = read(module, given, shape);
  const all = platform.Module.exports(module);
  if (!values) return [table, (instance) => hide(instance, all, shape.own)];
  const waits = values.some((value) => value instanceof Mark);
  if (waits) ready();
  // Where nobody can tell which stack there is to keep apart, or the guest does that itself, there is one, as in raw
  // JSPI.
  const one = shape.stackPointer === CANNOT_TELL || keepsStacks(module);
  const options = { shadowStack: one ? { pointer: null } : shape.chosen! };
  const newLink = () => new Link(inspector(), module, shape, values, options);
  let link = waits ? newLink() : undefined;
  let border: ReturnType<Link["complete"]> | undefined;
  return [
    link ? link.imports : table,
    (instance) => {
      const { exports } = instance; // what is hidden of them, too
      // Most instances of a page have nothing to do with fibers: their border is made when promising is called.
      const complete = () => {
        ready();
        if (border) return border;
        border = (link ??= newLink()).complete({ exports });
        if (border.binding.regions) guests.push(new WeakRef(border.binding));
        return border;
      };
      if (link) complete();
      all.forEach(({ name, kind }, k) => {
        // What it imports and exports again is another instance's function, whose stack is there.
        if (kind === "function" && !ways.has(exports[name] as Function))
          ways.set(exports[name] as Function, { complete, k });
      });
      return hide(instance, all, shape.own);
    },
  ];
}

const Instance: typeof platform.Instance = new Proxy(platform.Instance, {
  construct(target, [module, given], newTarget): WebAssembly.Instance {
    const [imports, made] = link(module, given);
    return made(Reflect.construct(target, [module, imports], newTarget === Instance ? target : newTarget));
  },
});

async function compile(source: BufferSource, ...rest: unknown[]): Promise<WebAssembly.Module> {
  const [bytes, shape] = isBuffer(source) && hasJSPI() ? prepare(source, rest[0]) : [source, undefined];
  return remember(await (platform.compile as Function)(bytes, ...rest), shape);
}

async function compileStreaming(
  source: Response | PromiseLike<Response>,
  ...rest: unknown[]
): Promise<WebAssembly.Module> {
  const response = await source;
  const copy = has(Response, "ok", response) && response.ok && !response.bodyUsed ? response.clone() : undefined;
  const module: WebAssembly.Module = await (platform.compileStreaming as Function)(response, ...rest);
  if (!copy || !hasJSPI()) return module;
  const [bytes, shape] = prepare(await copy.arrayBuffer(), rest[0]);
  return remember(shape ? await (platform.compile as Function)(bytes, ...rest) : module, shape);
}

async function instantiateModule(module: WebAssembly.Module, given: any): Promise<WebAssembly.Instance> {
  const [imports, made] = link(module, given);
  return made(await platform.instantiate(module, imports));
}

async function instantiate(source: BufferSource | WebAssembly.Module, ...[given, ...rest]: any[]): Promise<unknown> {
  if (!(source instanceof platform.Module) && !isBuffer(source))
    return (platform.instantiate as Function)(source, given, ...rest);
  if (source instanceof platform.Module) return instantiateModule(source, given);
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

/** The platform's namespace and what JSPI adds to it. */
export type Namespace = typeof globalThis.WebAssembly & {
  promising(fn: Function): (...args: any[]) => Promise<any>;
  Suspending: new (fn: Function) => Function; // it is none, but TypeScript's own type of an import object takes nothing else
  SuspendError: new (message?: string) => Error;
  compile(bytes: BufferSource, options?: Options): Promise<WebAssembly.Module>;
  instantiate(
    bytes: BufferSource,
    imports?: WebAssembly.Imports,
    options?: Options,
  ): Promise<WebAssembly.WebAssemblyInstantiatedSource>;
};

const own = { promising, Suspending, Module, Instance, compile, compileStreaming, instantiate, instantiateStreaming };

/** The namespace: the platform's, with the functions above in it, each as visible as the one it replaces. */
export const namespace = Object.create(
  Object.getPrototypeOf(platform),
  Object.getOwnPropertyDescriptors(platform),
) as Namespace;
for (const [name, value] of Object.entries(own)) {
  const { enumerable = false } = Object.getOwnPropertyDescriptor(platform, name) ?? {};
  Object.defineProperty(namespace, name, { value, writable: true, enumerable, configurable: true });
}
