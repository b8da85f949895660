// Guests with fibers of their own: those that import an operation of one of the four proposals (include/fiberfill.h).
// What only they need, the machine (jumps.ts, systems.ts, package jsglue/proposals), is loaded when the first of them
// is instantiated; this is what the rest knows of it.

import { FiberError, words } from "../errors.js";
import type { Binding } from "../guest/binding.js";
import { thrown, trapError, type Call } from "../guest/call.js";
import type { Turns } from "../guest/serial.js";
import { inJavaScript } from "../substrate/javascriptcore.js";
import { settings } from "../turn/scheduler.js";
import { proceed } from "../turn/spawn.js";
import { current } from "../turn/turn.js";
import { load } from "../load.js";
import { Jump, type Suspending } from "../guest/suspending.js";
import { deadly, workerModule } from "../substrate/jspi.js";

/** A fiber that a guest has made, and that is not over. */
export interface GuestFiber {
  /** The system it is of, and a number that no other fiber of the guest has. */
  readonly name: string;
  /**
   * `suspended`: may be entered. `active`: runs. `busy`: has entered another one. `carried`: suspended with one that it
   * was entered from.
   */
  readonly state: "suspended" | "active" | "busy" | "carried" | "over";
  /** It has a stack. */
  readonly started: boolean;
  /**
   * Ends it, and all that it carries, without running any of their code. Only a fiber that is suspended can be
   * released; for others this does nothing.
   */
  release(): void;
}

/** The machine of one guest, whose calls go one after another. */
export interface Machine extends Turns {
  /** The operations, by the name of their import. */
  readonly imports: Record<string, Suspending | Function>;
  /** Why the entry that runs is to be ended by a trap, if one of its operations was refused. */
  readonly failure: FiberError | undefined;
  /** The guest exists: its border, and the table that its function pointers are indices of. */
  attach(binding: Binding, table: WebAssembly.Table): void;
  /** A call begins, on its own stack. */
  start(task: Call): void;
  fibers(): GuestFiber[];
}

/**
 * The systems, which are the modules that a guest imports from, in the order of their numbers in package
 * jsglue/proposals.
 */
const SYSTEMS = ["fibers1", "fibers2", "stacks", "cont"];
const MODULE = "fiberfill/";

/** What the machine takes from the rest of fiberfill: the script tag loads it as a file of its own. */
export const glue = {
  FiberError,
  words,
  Jump,
  current: () => current,
  proceed,
  stackLimit: () => settings.hard,
  deadly,
  inJavaScript,
  thrown,
  trapError,
  workerModule,
};
export type Glue = typeof glue;

/** The name of the system that a guest imports from, undefined if it has no fibers of its own. */
export function systemOf(modules: string[]): string | undefined {
  const [system, other] = new Set(
    modules.filter((name) => name.startsWith(MODULE)).map((name) => name.slice(MODULE.length)),
  );
  if (system !== undefined && other !== undefined) {
    throw new FiberError(
      "bad-guest",
      `the module imports from ${MODULE}${system} and from ${MODULE}${other}: each is a machine of its own, and no ` +
        "stack can belong to two; a guest uses one of them",
    );
  }
  return system !== undefined && SYSTEMS.includes(system) ? system : undefined;
}

// Whether this is the script tag's bundle, said by the build tool.
declare const SCRIPT_TAG: boolean;

/** Makes the machine of a guest. Rejects with a FiberError if its code cannot be loaded. */
export async function newMachine(system: string): Promise<Machine> {
  const { machine } = await load(
    "fiberfill-proposals.js",
    SCRIPT_TAG ? undefined : () => import("./jumps.js"),
    `guests that import ${MODULE}${system} need`,
  );
  return machine(glue, system, SYSTEMS.indexOf(system) + 1);
}

/** The table that the function pointers of a guest are indices of. */
export function tableOf(guest: WebAssembly.Instance, exports: WebAssembly.ModuleExportDescriptor[]): WebAssembly.Table {
  const tables = exports.filter(({ kind }) => kind === "table");
  const found =
    tables.find(({ name }) => name === "__indirect_function_table") ?? (tables.length === 1 ? tables[0] : undefined);
  if (!found) {
    throw new FiberError(
      "bad-guest",
      "a guest with fibers of its own exports the table of its functions as __indirect_function_table, or as its " +
        `only table, and this one exports ${tables.length} tables; clang does it with -Wl,--export-table`,
    );
  }
  return guest.exports[found.name] as WebAssembly.Table;
}
