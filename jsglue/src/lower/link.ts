// From a lowered module to an instance: what it imports from the driver, which tags are which, and barriers in front of
// functions that cannot be left.

import { WebAssembly } from "../platform.js";
import { refuse, Waiting } from "./waits.js";
import { isModule, isObject, isTag } from "../values.js";
import { CLASSES, register, shared, started, VERSION, type Identity } from "./driver.js";
import { guardTable, GUARDS } from "./tables.js";

const SECTION = "fiberfill.lower";
const BARRIERS = "fiberfill.lower.barriers";
const NAMESPACE = "fiberfill:lower";

const KINDS = ["function", "table", "memory", "global", "tag"] as const;
const FUNCTION = 0;
const TABLE = 1;
const GLOBAL = 3;
const TAG = 4;

/** The custom section of a lowered module (polyfill/lower/barrier.go). */
interface About {
  version: number;
  imports: [module: string, name: string, kind: number][];
  exports: [name: string, kind: number, index: number][];
  registers: number[];
  /** The tables of functions, by index. */
  tables: number[];
  /** The globals that hold continuations, by index: to the engine they hold structures. */
  conts: number[];
  /** For each tag its type, if it has results. */
  tags: string[];
}

const known = new WeakMap<WebAssembly.Module, About | null>();

/** What a module says about itself if any copy of fiberfill has lowered it. */
function about(module: WebAssembly.Module): About | null {
  let found = known.get(module);
  if (found === undefined) {
    const [section] = WebAssembly.Module.customSections(module, SECTION);
    found = section ? (JSON.parse(new TextDecoder().decode(section)) as About) : null;
    known.set(module, found);
  }
  return found;
}

/** As WebAssembly.Module.imports, without what the rewriter has added. */
export function imports(module: WebAssembly.Module): WebAssembly.ModuleImportDescriptor[] {
  const found = isModule(module) && about(module);
  if (!found) return WebAssembly.Module.imports(module);
  return found.imports.map(([module, name, kind]) => ({
    module,
    name,
    kind: KINDS[kind] as WebAssembly.ImportExportKind,
  }));
}

/** As WebAssembly.Module.exports. */
export function exports(module: WebAssembly.Module): WebAssembly.ModuleExportDescriptor[] {
  const found = about(module);
  if (!found) return WebAssembly.Module.exports(module);
  return found.exports.map(([name, kind]) => ({ name, kind: KINDS[kind] as WebAssembly.ImportExportKind }));
}

/** As WebAssembly.Module.customSections, without ours. */
export function customSections(module: WebAssembly.Module, name: string): ArrayBuffer[] {
  return [SECTION, BARRIERS, GUARDS].includes(name) ? [] : WebAssembly.Module.customSections(module, name);
}

/** Whether a module has been lowered. */
export const isLowered = (module: unknown): module is WebAssembly.Module => isModule(module) && about(module) !== null;

/**
 * Returns the import object for the engine, and a function to call with the instance. Throws a LinkError if an imported
 * tag has other results than the module says. Functions among the imports may be Waiting.
 */
export function link(
  module: WebAssembly.Module,
  given: any,
): [imports: any, made: (instance: WebAssembly.Instance) => void] {
  const found = about(module)!;
  if (given === undefined) given = {}; // the engine may provide all there is
  if (!isObject(given)) return [given, () => {}];
  if (found.version !== VERSION) {
    throw new WebAssembly.LinkError(
      `fiberfill: this module has been lowered by another version (${found.version}, this is ${VERSION})`,
    );
  }
  const [values, wrong] = read(found.imports, given);
  // JSPI cannot suspend through the frame of JavaScript with which an export begins (polyfill/lower/ground.go).
  const suspends = "Suspending" in WebAssembly && found.imports.some(([, , kind], i) => mayWait(kind, values[i]));
  found.imports
    .flatMap(([, , kind], i) => (kind === GLOBAL ? [i] : []))
    .forEach((i, k) => {
      if (!found.conts.includes(k)) checkGlobal(found.imports[i]!, values[i]);
    });
  const ids = identities(found, values);
  found.imports
    .flatMap(([, , kind], i) => (kind === TABLE ? [values[i]] : []))
    .forEach((table, k) => found.tables.includes(k) && guardTable(table, module, true));
  const places = found.imports.flatMap(([, , kind], i) => (kind === FUNCTION ? [i] : []));
  // The module's code calls begin and end. Only start functions call the import itself, and nothing can wait there.
  const waits = places.flatMap((place, i) => {
    const value = values[place];
    if (!(value instanceof Waiting)) return [];
    values[place] = refuse;
    return [[i, value] as const];
  });
  const halves = guard(
    module,
    places,
    values,
    waits.flatMap(([, { begin, end }]) => [begin, end]),
    found,
  );

  const { driver, host, lowered, tags, conts } = shared();
  const hidden: Record<string, unknown> = Object.assign(Object.create(null), driver, host);
  if (suspends) hidden["ground"] = null;
  waits.forEach(([i], k) => {
    hidden[`begin.${i}`] = halves?.[2 * k];
    hidden[`end.${i}`] = halves?.[2 * k + 1];
  });
  ids.forEach(({ id }, k) => (hidden[`tag.${k}`] = id));
  found.registers.forEach((n, c) => {
    for (let k = 0; k < n; k++) hidden[`${CLASSES[c]}.${k}`] = register(CLASSES[c]!, k);
  });
  const table = inOrder(found.imports, values, wrong);
  table[NAMESPACE] = hidden;
  return [
    table,
    ({ exports }) => {
      if (!halves)
        throw new WebAssembly.LinkError("fiberfill: the engine takes these imports, but no barriers in front of them");
      for (const [name, kind, index] of found.exports) {
        const value = exports[name] as object;
        if (kind === FUNCTION) lowered.add(value);
        if (kind === TABLE && found.tables.includes(index)) guardTable(value, module, false);
        if (kind === TAG) tags.set(value, ids[index]!);
        if (kind === GLOBAL && found.conts.includes(index)) conts.add(value);
      }
    },
  ];
}

/** Whether JSPI may suspend in an import: in a function that is not plain JavaScript, or in one from a table. */
const mayWait = (kind: number, value: unknown): boolean =>
  kind === TABLE ||
  (kind === FUNCTION &&
    !(value instanceof Waiting) &&
    !(typeof value === "function" && !/\[native code\]/.test(Function.prototype.toString.call(value))));

/** Throws a LinkError if a global holds a continuation, of which the engine does not know. */
function checkGlobal([from, name]: readonly [string, string, ...unknown[]], value: unknown): void {
  if (!isObject(value) || !shared().conts.has(value)) return;
  throw new WebAssembly.LinkError(
    `fiberfill: import ${from}.${name}: the global holds a continuation, and the module asks for another type`,
  );
}

/**
 * Throws a LinkError if a module that has not been lowered imports a tag with results, or a global that holds a
 * continuation: the engine sees neither. Returns the import object for the engine, as each value is to be read once.
 */
export function checkTypes(module: unknown, given: any): any {
  if (!isModule(module) || !isObject(given) || !started()) return given;
  let list: (readonly [module: string, name: string])[];
  let kinds: string[];
  try {
    const imports = WebAssembly.Module.imports(module);
    list = imports.map(({ module, name }) => [module, name]);
    kinds = imports.map(({ kind }) => kind);
  } catch {
    return given; // Bun 1.2 does not list imports with types of the garbage collector's
  }
  const [values, wrong] = read(list, given);
  values.forEach((value, i) => {
    if (kinds[i] === "global") checkGlobal(list[i]!, value);
    if (kinds[i] === "tag" && isObject(value) && shared().tags.get(value)?.type) {
      throw new WebAssembly.LinkError(
        `fiberfill: import ${list[i]!.join(".")}: the tag has results, and the module asks for one without`,
      );
    }
  });
  return inOrder(list, values, wrong);
}

/** The identity of each tag of the module; one Tag always has the same identity. */
function identities(found: About, values: unknown[]): Identity[] {
  const { driver, tags, tagNames } = shared();
  const make = (type: string, name: string): Identity => ({ id: driver.newTag(tagNames.push(name) - 1), type });
  const list: Identity[] = [];
  found.imports.forEach(([from, name, kind], i) => {
    if (kind !== TAG) return;
    const type = found.tags[list.length]!;
    const tag = values[i];
    const whole = `${from}.${name}`;
    if (!isTag(tag)) {
      list.push(make(type, whole)); // the engine will refuse it
      return;
    }
    let identity = tags.get(tag);
    if (!identity) tags.set(tag, (identity = make("", whole)));
    if (identity.type !== type) {
      throw new WebAssembly.LinkError(`fiberfill: import ${whole}: the tag has other results than the module asks for`);
    }
    list.push(identity);
  });
  const names = new Map(found.exports.filter(([, kind]) => kind === TAG).map(([name, , index]) => [index, name]));
  for (let k = list.length; k < found.tags.length; k++) list.push(make(found.tags[k]!, names.get(k) ?? `${k}`));
  return list;
}

/**
 * Puts a barrier in front of each imported function that cannot be left. Returns the functions of `more` with barriers;
 * undefined if there cannot be barriers of the imports' types.
 */
function guard(
  module: WebAssembly.Module,
  places: number[],
  values: unknown[],
  more: Function[],
  about: About,
): unknown[] | undefined {
  const { driver, lowered } = shared();
  // The rewriter takes a function of a module named "wasm:…" for the engine's, which cannot be left.
  const engines = places.map((i) => about.imports[i]![0].startsWith("wasm:"));
  const own = places.map((i) => values[i] as Function);
  const bare = (fn: Function, k: number): boolean => !engines[k] && lowered.has(fn);
  const functions = [...own, ...more];
  if (functions.every(bare)) return more;
  let barriers: WebAssembly.Instance;
  try {
    barriers = new WebAssembly.Instance(barriersOf(module), {
      // If the program gives none, the engine provides its own, or says what is missing.
      i: Object.assign(
        Object.create(null),
        functions.map((fn, k) => (engines[k] ? (fn ?? noop) : fn)),
      ),
      [NAMESPACE]: { realm: driver.realm, told: driver.told },
    });
  } catch {
    return undefined; // an import is not what it should be: the engine will say so of the module itself
  }
  own.forEach((fn, k) => {
    if (!bare(fn, k) && fn !== undefined) values[places[k]!] = barriers.exports[k];
  });
  return more.map((fn, k) => (lowered.has(fn) ? fn : barriers.exports[own.length + k]));
}

const noop = (): void => {};

const compiled = new WeakMap<WebAssembly.Module, WebAssembly.Module>();

function barriersOf(module: WebAssembly.Module): WebAssembly.Module {
  let found = compiled.get(module);
  if (!found) {
    found = new WebAssembly.Module(WebAssembly.Module.customSections(module, BARRIERS)[0]!);
    compiled.set(module, found);
  }
  return found;
}

/** A list of imports, as far as it is of use here. */
type List = readonly (readonly [module: string, name: string, ...unknown[]])[];

/** What stands where a module of imports should be, and is no object: the engine may provide that module itself. */
type Wrong = ReadonlyMap<string, unknown>;

/** Reads the values of imports as the engine does: each once, in order. */
function read(list: List, given: any): [values: unknown[], wrong: Wrong] {
  const wrong = new Map<string, unknown>();
  const values = list.map(([from, name]) => {
    const space = given[from];
    if (isObject(space)) return (space as any)[name];
    wrong.set(from, space);
    return undefined;
  });
  return [values, wrong];
}

/**
 * The import object for the engine. A module may import the same name several times, and gets what was read each time,
 * in order.
 */
function inOrder(list: List, values: readonly unknown[], wrong: Wrong): any {
  const table = Object.create(null);
  const queues = new Map<string, unknown[]>();
  list.forEach(([from, name], i) => {
    if (wrong.has(from)) {
      table[from] = wrong.get(from);
      return;
    }
    const space = (table[from] ??= Object.create(null));
    const key = JSON.stringify([from, name]);
    const queue = queues.get(key);
    if (queue) {
      queue.push(values[i]);
      return;
    }
    const own = [values[i]];
    queues.set(key, own);
    Object.defineProperty(space, name, { get: () => (own.length > 1 ? own.shift() : own[0]) });
  });
  return table;
}
