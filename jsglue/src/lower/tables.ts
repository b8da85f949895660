// Tables that lowered modules share with others. JavaScript, or a module that is not lowered, may put a function into
// one that cannot be left. If that function then called code that is left, it would go on with results that do not
// exist. So this file checks what is put into the table, and gives such a function a barrier there. One case remains
// that nobody can see: a module that is not lowered writes to the table while it runs.

import { WebAssembly } from "../platform.js";
import { isModule, isObject, isTable } from "../values.js";
import { shared, started } from "./driver.js";

export const GUARDS = "fiberfill.lower.guards";
const NAMESPACE = "fiberfill:lower";

const { get, set, grow } = (WebAssembly?.Table ?? Object).prototype as Partial<WebAssembly.Table>;

const compiled = new WeakMap<WebAssembly.Module, WebAssembly.Module | null>();

/** The module that makes barriers for a lowered module (polyfill/lower/guards.go); null: it needs none. */
function guardsOf(module: WebAssembly.Module): WebAssembly.Module | null {
  let found = compiled.get(module);
  if (found === undefined) {
    const [section] = WebAssembly.Module.customSections(module, GUARDS);
    compiled.set(module, (found = section ? new WebAssembly.Module(section) : null));
  }
  return found;
}

/** What is known of a table that lowered modules use. */
export interface Guarded {
  /** The modules that make barriers, one for each of those lowered modules. */
  guards: Set<WebAssembly.Module>;
  /** Functions in the table that cannot be left, and that none of those modules can call through it. */
  others: WeakSet<Function>;
  /** A module that is not lowered has it, and may write to it. */
  plain: boolean;
}

// Tables that modules export which are not lowered.
const plainTables = new WeakSet<object>();

/** Returns what a table gets for a value: a function that can be left, or a barrier that hides the handlers. */
function guarded(table: WebAssembly.Table, value: unknown): unknown {
  const { driver, lowered, barriers, behind, tables } = shared();
  if (typeof value !== "function" || lowered.has(value)) return value;
  const known = barriers.get(value);
  if (known) return known;
  const { guards, others } = tables.get(table)!;
  for (const module of guards) {
    let exports: WebAssembly.Exports;
    try {
      const imports = { i: { f: value as any }, [NAMESPACE]: { realm: driver.realm, told: driver.told } };
      ({ exports } = new WebAssembly.Instance(module, imports));
    } catch {
      return value; // not a function of a wasm module: the engine will say so
    }
    const k = (exports["type"] as () => number)();
    if (k < 0) continue;
    const barrier = exports[k] as Function;
    lowered.add(barrier);
    barriers.set(value, barrier);
    behind.set(barrier, value);
    return barrier;
  }
  others.add(value);
  return value;
}

type Index = any; // a number; of a table with 64-bit indices, a BigInt

/** The functions in a table, and where they are. */
function functionsIn(table: WebAssembly.Table): Map<Index, Function> {
  const found = new Map<Index, Function>();
  const length: Index = table.length;
  try {
    for (let i = length - length; i < length; i++) {
      const value: unknown = get!.call(table, i);
      if (typeof value === "function") found.set(i, value);
    }
  } catch {
    // JavaScript cannot get what the table holds, such as exnref: there are no functions.
  }
  return found;
}

/** Puts barriers in front of the functions in a table for which `due` says so. */
function sweep(table: WebAssembly.Table, due: (fn: Function, i: Index) => boolean): void {
  for (const [i, fn] of functionsIn(table)) {
    if (!due(fn, i)) continue;
    const safe = guarded(table, fn);
    if (safe !== fn) set!.call(table, i, safe as Function);
  }
}

const methods = {
  get(this: WebAssembly.Table, ...args: [any]): unknown {
    const value = get!.apply(this, args) as Function | null;
    const found = shared().tables.get(this);
    // A function that neither JavaScript nor a plain module has put there is a lowered module's own.
    if (value && found && !found.plain && !found.others.has(value)) shared().lowered.add(value);
    return (value && shared().behind.get(value)) ?? value;
  },
  set(this: WebAssembly.Table, ...args: any[]): void {
    if (args.length > 1 && shared().tables.has(this)) args[1] = guarded(this, args[1]);
    set!.apply(this, args as any);
  },
  grow(this: WebAssembly.Table, ...args: any[]): number {
    if (args.length > 1 && shared().tables.has(this)) args[1] = guarded(this, args[1]);
    return grow!.apply(this, args as any) as number;
  },
};

/**
 * Guards a table that a lowered module imports or exports. Functions that are already in an imported one are checked,
 * too.
 */
export function guardTable(table: unknown, module: WebAssembly.Module, imported: boolean): void {
  if (!isTable(table)) return; // the engine will refuse it
  const { tables } = shared();
  const guards = guardsOf(module);
  const known = tables.get(table);
  const found = known ?? { guards: new Set(), others: new WeakSet(), plain: plainTables.has(table) };
  const more = guards && !found.guards.has(guards);
  if (more) found.guards.add(guards);
  if (!known) {
    tables.set(table, found);
    for (const [name, value] of Object.entries(methods))
      Object.defineProperty(table, name, { value, writable: true, configurable: true });
    if (imported) sweep(table, () => true);
  } else if (more) {
    sweep(table, (fn) => found.others.has(fn));
  }
}

/**
 * For a module that is not lowered: call the result with the instance. It checks what the module has put into guarded
 * tables, and notes the tables that the module exports.
 */
export function watchTables(module: unknown, given: unknown): (instance: WebAssembly.Instance) => void {
  const note = ({ exports }: WebAssembly.Instance): void => {
    for (const value of Object.values(exports)) if (isTable(value)) plainTables.add(value);
  };
  if (!started() || !isModule(module) || !isObject(given)) return note;
  const { tables } = shared();
  const before = new Map<WebAssembly.Table, Map<Index, Function>>();
  for (const space of Object.values(given)) {
    if (!isObject(space)) continue;
    for (const value of Object.values(space)) {
      const found = isTable(value) && tables.get(value);
      if (!found) continue;
      found.plain = true;
      before.set(value, functionsIn(value));
    }
  }
  return (instance) => {
    note(instance);
    before.forEach((functions, table) => sweep(table, (fn, i) => fn !== functions.get(i)));
  };
}
