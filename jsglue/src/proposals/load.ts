// Guests with fibers of their own: those that import an operation of one of the four proposals (include/fiberfill.h).
// Only they need the machine (jumps.ts, systems.ts, package jsglue/proposals), which is loaded when the first of them
// is instantiated; this file is what the rest of fiberfill knows of it.

import { FiberError, words } from "../errors.js";
import type { Binding } from "../guest/binding.js";
import { thrown, trapError, type Call } from "../guest/call.js";
import { inJavaScript } from "../substrate/javascriptcore.js";
import { settings } from "../turn/scheduler.js";
import { current } from "../turn/turn.js";
import { load } from "../load.js";
import { Jump, type Suspending } from "../guest/suspending.js";
import { deadly, workerModule } from "../substrate/jspi.js";

/** A fiber that a guest has made and that is not over. */
export interface GuestFiber {
  /** Its system, and a number that no other fiber of the guest has. */
  readonly name: string;
  /**
   * `suspended`: may be entered. `active`: runs. `busy`: has entered another one. `carried`: suspended together with
   * the fiber that had entered it.
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

/** The machine of one guest. */
export interface Machine {
  /** The operations, by the name of their import. */
  readonly imports: Record<string, Suspending | Function>;
  /** Why the entry that runs is to be ended by a trap, if one of its operations was refused. */
  readonly failure: FiberError | undefined;
  /** The guest exists: its border and its exports. Throws a FiberError if they lack what its fibers need. */
  attach(
    binding: Binding,
    guest: { exports: WebAssembly.Exports },
    exports: readonly WebAssembly.ModuleExportDescriptor[],
  ): void;
  /** A call begins, on its own stack. */
  start(task: Call): void;
  /** The call whose turn it was is over. */
  over(task: Call): void;
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
  stackLimit: () => settings.hard,
  deadly,
  inJavaScript,
  thrown,
  trapError,
  workerModule,
};
export type Glue = typeof glue;

/** The systems that a guest imports from, a known system first; none if the guest has no fibers of its own. */
export function systemsOf(modules: string[]): string[] {
  const names = new Set(modules.filter((name) => name.startsWith(MODULE)).map((name) => name.slice(MODULE.length)));
  const known = SYSTEMS.find((system) => names.delete(system));
  return known ? [known, ...names] : [];
}

/**
 * Makes the machine of a guest. Rejects with a FiberError if its code cannot be loaded, or if a guest imports from more
 * than one system.
 */
export async function newMachine(systems: string[]): Promise<Machine> {
  const [system] = systems as [string];
  const { machine } = await load(
    "fiberfill-proposals.js",
    SCRIPT_TAG ? undefined : () => import("./jumps.js"),
    `guests that import ${MODULE}${system} need`,
  );
  return machine(glue, systems, SYSTEMS.indexOf(system) + 1);
}
