// The namespace of fiberfill/webassembly, which takes modules with stack-switching instructions, too: a module is
// lowered if the engine refuses it because of these instructions. Everything else goes to the platform unchanged.

import { shared } from "../lower/driver.js";
import { checkTypes, customSections, exports, imports, isLowered, link } from "../lower/link.js";
import { load, loadNow, lower } from "../lower/rewriter.js";
import { mayHaveTags } from "../lower/sections.js";
import { WebAssembly as platform } from "../platform.js";
import { has, isObject, viewOf } from "../values.js";
import { alike, extended, instantiations, namespace } from "./webassembly.js";

/** What may stand among the platform's options for compiling. */
export interface LowerOptions {
  /** Lower a module that has no stack-switching instructions, so that suspensions can pass through its functions. */
  lower?: boolean;
  /** Lower also where the engine has the instructions. */
  stacks?: "unwind";
}

function chosen(options: unknown): { all: boolean; always: boolean } {
  const { lower, stacks } = (isObject(options) ? options : {}) as LowerOptions;
  return { all: lower === true, always: lower === true || stacks === "unwind" };
}

// The bytes of a continuation type, of cont, nocont and suspend. A module with none of them and no tags needs no
// lowering, so a program that only tries out what an engine can do does not load the rewriter.
const MARKS = [0x5d, 0x68, 0x75, 0xe2];

/** The bytes of a source that may need the rewriter. */
function candidate(source: unknown, always: boolean): Uint8Array | undefined {
  const bytes = viewOf(source);
  if (!bytes || bytes.length <= 8) return undefined;
  return always || MARKS.some((mark) => bytes.includes(mark)) || mayHaveTags(bytes) ? bytes : undefined;
}

/** Returns the lowered module, or undefined if it is for the engine to judge. */
function rewrite(bytes: Uint8Array, all: boolean): Uint8Array | undefined {
  const lowered = lower(bytes, all);
  if (lowered) shared(); // an engine that cannot run it says so now
  return lowered;
}

const statics: Record<PropertyKey, unknown> = Object.create(null);
// What fiberfill's module editor has added to a module that is not lowered is hidden by the namespace below.
const own = (module: WebAssembly.Module) => (isLowered(module) ? exports(module) : namespace.Module.exports(module));
for (const [name, fn] of Object.entries({ imports, exports: own, customSections }))
  statics[name] = alike(fn, (platform.Module as any)[name]);

const Module: typeof platform.Module = new Proxy(namespace.Module, {
  get: (target, name, receiver) => statics[name] ?? Reflect.get(target, name, receiver),
  construct(target, args, newTarget): WebAssembly.Module {
    const { all, always } = chosen(args[1]);
    const plain = () => Reflect.construct(target, args, newTarget === Module ? target : newTarget);
    let refused: unknown;
    if (!always) {
      try {
        return plain();
      } catch (error) {
        if (!(error instanceof platform.CompileError)) throw error;
        refused = error;
      }
    }
    const bytes = candidate(args[0], always);
    if (bytes) loadNow();
    const lowered = bytes && rewrite(bytes, all);
    if (lowered) {
      const rest = [lowered, ...args.slice(1)];
      return Reflect.construct(platform.Module, rest, newTarget === Module ? platform.Module : newTarget);
    }
    if (refused !== undefined) throw refused;
    return plain();
  },
});

/** Why a lowered module cannot be linked, in our own words if the engine's would not help. */
function explained(error: unknown, module: WebAssembly.Module, given: any): unknown {
  if (!(error instanceof platform.LinkError)) return error;
  const wrong = imports(module).find(({ module, name }) => given?.[module]?.[name] instanceof namespace.Suspending);
  if (!wrong) return error;
  const text = `fiberfill: import ${wrong.module}.${wrong.name} cannot be one that waits, in an engine without JSPI: `;
  return new platform.LinkError(
    `${text}this module was rewritten when it was compiled, for its instructions, or before; imports that wait take ` +
      "the module as its compiler made it, without the stack-switching instructions",
  );
}

const Instance: typeof platform.Instance = new Proxy(namespace.Instance, {
  construct(target, args, newTarget): WebAssembly.Instance {
    const [module, given] = args;
    if (!isLowered(module)) {
      if (args.length > 1) args[1] = checkTypes(module, given);
      return Reflect.construct(target, args, newTarget === Instance ? target : newTarget);
    }
    const [imports, made] = link(module, given);
    const rest = [module, imports];
    try {
      const target = newTarget === Instance ? platform.Instance : newTarget;
      const instance = Reflect.construct(platform.Instance, rest, target);
      made(instance);
      return instance;
    } catch (error) {
      throw explained(error, module, given);
    }
  },
});

function validate(source: BufferSource, ...rest: unknown[]): boolean {
  const { all, always } = chosen(rest[0]);
  const plain = () => (platform.validate as Function)(source, ...rest);
  if (!always && plain()) return true;
  const bytes = candidate(source, always);
  if (!bytes) return plain();
  loadNow();
  try {
    const lowered = lower(bytes, all);
    return lowered ? platform.validate(lowered as BufferSource) : plain();
  } catch (error) {
    if (error instanceof platform.CompileError) return false;
    throw error;
  }
}

async function compile(source: BufferSource, ...rest: unknown[]): Promise<WebAssembly.Module> {
  const { all, always } = chosen(rest[0]);
  const bytes = candidate(source, always)?.slice(); // the caller may change the source meanwhile
  const plain = (): Promise<WebAssembly.Module> => (namespace.compile as Function)(bytes ?? source, ...rest);
  let refused: unknown;
  if (!always || !bytes) {
    try {
      return await plain();
    } catch (error) {
      if (!bytes || !(error instanceof platform.CompileError)) throw error;
      refused = error;
    }
  }
  await load();
  const lowered = rewrite(bytes, all);
  if (lowered) return (platform.compile as Function)(lowered, ...rest);
  if (refused !== undefined) throw refused;
  return plain();
}

async function compileStreaming(
  source: Response | PromiseLike<Response>,
  ...rest: unknown[]
): Promise<WebAssembly.Module> {
  const response = await source;
  const copy = has(Response, "ok", response) && response.ok && !response.bodyUsed ? response.clone() : undefined;
  const { always } = chosen(rest[0]);
  try {
    const module = await (namespace.compileStreaming as Function)(response, ...rest);
    if (!always || !copy) return module;
  } catch (error) {
    if (!copy || !(error instanceof platform.CompileError)) throw error;
  }
  return compile(await copy.arrayBuffer(), ...rest);
}

async function instantiateModule(module: WebAssembly.Module, given: any): Promise<WebAssembly.Instance> {
  if (!isLowered(module)) return (namespace.instantiate as Function)(module, checkTypes(module, given));
  const [imports, made] = link(module, given);
  try {
    const instance = await platform.instantiate(module, imports);
    made(instance);
    return instance;
  } catch (error) {
    throw explained(error, module, given);
  }
}

const functions = {
  validate,
  compile,
  compileStreaming,
  ...instantiations(compile, compileStreaming, instantiateModule),
};
for (const [name, fn] of Object.entries(functions)) alike(fn, (platform as any)[name]);
const replaced = { Module, Instance, ...functions };

/** What is added to the types of the namespace: options. */
interface Lowering {
  Module: new (bytes: BufferSource, options?: LowerOptions) => WebAssembly.Module;
  validate(bytes: BufferSource, options?: LowerOptions): boolean;
  compile(bytes: BufferSource, options?: LowerOptions): Promise<WebAssembly.Module>;
  compileStreaming(source: Response | PromiseLike<Response>, options?: LowerOptions): Promise<WebAssembly.Module>;
}

/**
 * The platform's namespace, whose `promising` and `Suspending` keep each call's stacks apart, and which runs modules
 * with the stack-switching instructions, too. The platform's own is left as it is.
 */
export const WebAssembly = extended(namespace, replaced) as typeof namespace & Lowering;
