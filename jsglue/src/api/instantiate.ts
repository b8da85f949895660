// The entry points, shaped like the platform's functions of the same names.

import { inspector } from "../turn/core.js";
import { FiberError, isA, words } from "../errors.js";
import { fiberFunction, strict, type FiberExports, type FiberFunction } from "./exports.js";
import { isSuspending } from "../substrate/javascriptcore.js";
import { exportsOf, importsOf } from "../guest/descriptors.js";
import { Link } from "../guest/link.js";
import { ready } from "../turn/turn.js";
import { compile, compileStreaming, shapeOf } from "../guest/module.js";
import { kindOf, substrateOf } from "../substrate/choose.js";
import type { Options } from "../guest/options.js";
import type { Stacks } from "../guest/stacks.js";
import { WebAssembly } from "../platform.js";
import { newMachine, systemsOf, type GuestFiber } from "../proposals/load.js";
import { Suspending, builtins, type ImportObject } from "../guest/suspending.js";
import { describe, isModule, isObject } from "../values.js";

/** An instantiated guest, by {@link instantiate}. `Guest` is the type of its exports. */
export interface Instantiated<Guest extends object = any> {
  /** The compiled guest, which can be instantiated again. */
  module: WebAssembly.Module;
  /** The platform's instance. Its exports are plain functions, which cannot wait. */
  instance: WebAssembly.Instance;
  /**
   * The same exports as fibers. What is not a function is the same as in `instance.exports`. Reading a name that the
   * guest does not export throws a FiberError with the code "unknown-export".
   */
  exports: FiberExports<Guest>;
  /**
   * Lists the fibers that the guest has made itself, by operations that it imports, and that have not ended; see
   * include/fiberfill.h.
   */
  fibers(): GuestFiber[];
  /** How the shadow stacks of its calls are kept, and why so. */
  readonly stacks: Stacks;
}

/**
 * Instantiates a guest from its bytes, or from a module compiled by fiberfill. Takes what WebAssembly.instantiate
 * takes; functions in the import object may be marked by `suspending`. Rejects with a FiberError that says what is
 * wrong with the bytes or the imports. What the guest's start function throws reaches the caller unchanged. May be
 * called any number of times, also with the same module.
 *
 * In TypeScript, `instantiate<{ title(url: string): number }>(...)` says what the guest exports. The type is taken at
 * its word. Without it every name is allowed, with any arguments.
 */
export async function instantiate<Guest extends object = any>(
  source: BufferSource | WebAssembly.Module,
  imports?: ImportObject,
  options?: Options,
): Promise<Instantiated<Guest>> {
  const module = isModule(source) ? source : await compile(source, options);
  return await link(module, imports, options); // so that V8 knows who awaits it
}

/** Like {@link instantiate}, from a Response or a Promise of one, whose body is compiled as it arrives. */
export async function instantiateStreaming<Guest extends object = any>(
  source: Response | PromiseLike<Response>,
  imports?: ImportObject,
  options?: Options,
): Promise<Instantiated<Guest>> {
  const module = await compileStreaming(source, options);
  return await link(module, imports, options); // so that V8 knows who awaits it
}

async function link(
  module: WebAssembly.Module,
  given: ImportObject | undefined,
  options: Options | undefined,
): Promise<Instantiated> {
  const shape = shapeOf(module);
  const substrate = await (SCRIPT_TAG ? substrateOf(options, shape) : substrateOf(options, shape).catch(refuse));
  ready(kindOf(options));
  const imports = importsOf(module, shape);
  // Each once, as the platform does: it may be a getter.
  const read = imports.map(({ module, name }) => given?.[module]?.[name]);
  const systems = systemsOf(imports.filter((_, i) => read[i] === undefined).map(({ module }) => module));
  const machine = systems.length > 0 ? await newMachine(systems) : undefined;
  const values = imports.map(
    ({ module, name }, i) =>
      linked(read[i]) ??
      (module === "fiberfill"
        ? builtins[name]
        : module === `fiberfill/${systems[0]}`
          ? machine!.imports[name]
          : undefined),
  );
  // A global may have the value undefined. Any other import that has it is a mistake.
  const missing = imports.filter(
    ({ module, name, kind }, i) =>
      values[i] === undefined && (kind !== "global" || !(isObject(given?.[module]) && name in given[module])),
  );
  if (missing.length > 0) {
    const list = missing.map(({ module, name, kind }) => `${module}.${name} (${kind})`).join(", ");
    throw new FiberError("missing-import", `the import object lacks what the module asks for: ${list}`);
  }
  // Why: RATIONALE.md, "Why is an unmarked async function refused?".
  const raw = imports.find((_, i) => isSuspending(values[i]));
  if (raw) {
    const text =
      `import ${raw.module}.${raw.name} is a WebAssembly.Suspending: while a fiber waits in it, no other can go on; ` +
      `mark its function by fiberfill.suspending`;
    throw new FiberError("bad-import", text);
  }
  const async = imports.filter(
    ({ kind }, i) => kind === "function" && (values[i] as any)?.[Symbol.toStringTag] === "AsyncFunction",
  );
  if (async.length > 0) {
    const list = async.map(({ module, name }) => `${module}.${name}`).join(", ");
    const text = `an async function has to be marked by fiberfill.suspending: ${list}`;
    throw new FiberError("bad-import", text);
  }
  const link = new Link(inspector(), module, shape, values, options, machine, substrate);
  const instance = await substrate.guest(module, shape, link.imports, link.functions).catch((error) => {
    const odd = imports.findIndex(
      ({ kind }, i) => kind === "function" && typeof values[i] !== "function" && !isA(values[i], Suspending),
    );
    throw refusal(error, imports[odd], values[odd]);
  });
  const { binding, thunks } = SCRIPT_TAG ? link.complete(instance) : completed(link, instance);
  const exports: Record<string, unknown> = Object.create(null);
  exportsOf(module, shape)
    .slice(0, shape.own)
    .forEach(({ name }, k) => {
      const thunk = thunks[k];
      exports[name] = thunk ? fiberFunction(binding, thunk) : instance.exports[name];
      if (!thunk) return;
      const plain = instance.exports[name] as (...args: any[]) => unknown;
      const mark = new Suspending(exports[name] as FiberFunction, undefined, plain);
      marks.set(exports[name] as object, mark);
      if (link.mayWait || machine) marks.set(plain, mark);
    });
  const { stacks } = binding;
  return { module, instance, exports: strict(exports), fibers: () => machine?.fibers() ?? [], stacks };
}

// Why: RATIONALE.md, "Why is an export of another guest, given as an import, called as a fiber?".
// Exports of guests, in the form in which other guests import them.
const marks = new WeakMap<object, Suspending>();

/**
 * An import that is an export of another guest: each call of it is a fiber of its own, which the caller waits for. In a
 * plain call, fibers of the caller that are in the other guest at the same time would overwrite each other's frames: on
 * its shadow stack, and on the caller's, which is kept apart only where an import may wait. Where the caller cannot
 * wait, the platform's function is called.
 */
function linked(value: unknown): unknown {
  return (typeof value === "function" && marks.get(value)) || value;
}

/**
 * `odd` is an import that cannot be called, if there is one, and `got` is its value. That may be a mark made by another
 * copy of fiberfill: say, a script tag's beside a bundle's.
 */
function refusal(error: unknown, odd?: WebAssembly.ModuleImportDescriptor, got?: unknown): unknown {
  if (isA(error, WebAssembly.LinkError)) {
    const why = odd
      ? `import ${odd.module}.${odd.name} must be a function, got ${describe(got)}; ` +
        `suspending must come from the copy of fiberfill that instantiates`
      : words(error);
    return new FiberError("bad-import", `the engine refuses the import object: ${why}`, { cause: error });
  }
  if (isA(error, WebAssembly.RuntimeError)) {
    return new FiberError("trap", `the module trapped while it was instantiated: ${words(error)}`, { cause: error });
  }
  // The rewriter's own name for what it refuses.
  if (!SCRIPT_TAG && isA(error, WebAssembly.CompileError))
    return new FiberError("unsupported-module", words(error).replace(/^fiberfill: /, ""), { cause: error });
  return error;
}

function refuse(error: unknown): never {
  throw refusal(error);
}

/** The rewriter may refuse the thunks, too. */
function completed(link: Link, instance: WebAssembly.Instance): ReturnType<Link["complete"]> {
  try {
    return link.complete(instance);
  } catch (error) {
    return refuse(error);
  }
}
