// Tables that lowered modules share with others. A function that cannot be left, of JavaScript's or of a module that
// is not lowered, may be put into one; what a lowered module called through it could be left, and that function would
// go on with results that are none. So such a function gets a barrier in front of it in the table: what is put there is
// looked at here. Left is what nobody can see: a module that is not lowered and writes to the table while it runs.

import { WebAssembly } from "../platform.js";
import { isObject } from "../values.js";
import { shared, started } from "./driver.js";

export const GUARDS = "fiberfill.lower.guards";
const NAMESPACE = "fiberfill:lower";

const { get, set, grow } = (WebAssembly?.Table ?? Object).prototype as Partial<WebAssembly.Table>;

const compiled = new WeakMap<WebAssembly.Module, WebAssembly.Module | null>();

/** The module that makes barriers, of a lowered one (polyfill/lower/guards.go); null: it needs none. */
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
  /** What makes barriers, of each of those modules. */
  guards: Set<WebAssembly.Module>;
  /** Functions in it that cannot be left, and that none of those modules can call through it. */
  others: WeakSet<Function>;
}

/** Returns what stands for a value in a table: a function that can be left, or one that hides the handlers. */
function guarded(table: WebAssembly.Table, value: unknown): unknown {
  const { driver, lowered, barriers, behind, tables } = shared();
  if (typeof value !== "function" || lowered.has(value)) return value;
  const known = barriers.get(value);
  if (known) return known;
  const { guards, others } = tables.get(table)!;
  for (const module of guards) {
    let exports: WebAssembly.Exports;
    try {
      const imports = { i: { f: value as any }, [NAMESPACE]: { current: driver.current, told: driver.told } };
      ({ exports } = new WebAssembly.Instance(module, imports));
    } catch {
      return value; // it is no function of a module's: the engine will say so
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

/** Looks at the functions in a table that are to be looked at. */
function sweep(table: WebAssembly.Table, due: (fn: Function, i: number) => boolean): void {
  for (let i = 0; i < table.length; i++) {
    const fn = get!.call(table, i) as Function | null;
    if (!fn || !due(fn, i)) continue;
    const safe = guarded(table, fn);
    if (safe !== fn) set!.call(table, i, safe as Function);
  }
}

const methods = {
  get(this: WebAssembly.Table, ...args: [any]): unknown {
    const value = get!.apply(this, args) as Function | null;
    const found = shared().tables.get(this);
    // What has not been put there by JavaScript is the lowered module's own.
    if (value && found && !found.others.has(value)) shared().lowered.add(value);
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

/** Guards a table that a lowered module imports or exports. What is in an imported one already is looked at, too. */
export function guardTable(table: unknown, module: WebAssembly.Module, imported: boolean): void {
  if (!(table instanceof WebAssembly.Table)) return; // the engine will refuse it
  const { tables } = shared();
  const guards = guardsOf(module);
  const known = tables.get(table);
  const found = known ?? { guards: new Set(), others: new WeakSet() };
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
 * For a module that is not lowered: call the result when it has been instantiated. What it has put into guarded tables
 * is looked at then.
 */
export function watchTables(module: unknown, given: unknown): () => void {
  if (!started() || !(module instanceof WebAssembly.Module) || !isObject(given)) return () => {};
  const { tables } = shared();
  const before = new Map<WebAssembly.Table, unknown[]>();
  for (const space of Object.values(given)) {
    if (!isObject(space)) continue;
    for (const value of Object.values(space)) {
      if (value instanceof WebAssembly.Table && tables.has(value))
        before.set(
          value,
          Array.from({ length: value.length }, (_, i) => get!.call(value, i)),
        );
    }
  }
  return () => before.forEach((values, table) => sweep(table, (fn, i) => fn !== values[i]));
}
