// What runs on the stack of a guest's own fiber: fiber.wasm calls the fiber's function, and reports what it returns or
// throws.

import bytes from "../../fiber.wasm";
import type { Binding } from "../guest/binding.js";
import { WebAssembly } from "../platform.js";
import type { Coroutine } from "./coroutine.js";
import type { Glue } from "./load.js";

interface Body {
  /** The job of a fiber's stack. */
  fiber: Function;
  /** Says which type a function of the table has. */
  kind(i: number): number;
}

/** Links fiber.wasm to a guest. thrown returns what a fiber's function has thrown. */
export function linkBody(glue: Glue, binding: Binding, table: WebAssembly.Table, thrown: () => unknown): Body {
  const sp = binding.stackPointer ?? new WebAssembly.Global({ value: "i32", mutable: true }, 0);
  const js = {
    base: binding.base,
    arg: (c: Coroutine, i: number) => (i === 0 ? c.self : i === 1 ? c.env : i === 2 ? c.first : c.body),
    returned: (c: Coroutine, types: number) => {
      c.results = types;
    },
    failed: (c: Coroutine) => {
      c.threw = true;
      c.thrown = thrown();
    },
  };
  const { exn } = glue.workerModule();
  const imports = { guest: { table, sp }, worker: { exn }, js } as unknown as WebAssembly.Imports;
  try {
    return binding.substrate.instance(bytes, imports).exports as unknown as Body;
  } catch (error) {
    throw new glue.FiberError(
      "bad-guest",
      `the guest's table or stack pointer cannot be used for fibers: ${glue.words(error)}`,
      { cause: error },
    );
  }
}

/** The table of which the guest's function pointers are indices. */
export function functionsOf(
  glue: Glue,
  guest: { exports: WebAssembly.Exports },
  exports: readonly WebAssembly.ModuleExportDescriptor[],
): WebAssembly.Table {
  const tables = exports.filter(({ kind }) => kind === "table");
  const found =
    tables.find(({ name }) => name === "__indirect_function_table") ?? (tables.length === 1 ? tables[0] : undefined);
  if (!found) {
    throw new glue.FiberError(
      "bad-guest",
      "a guest with fibers of its own exports its table as __indirect_function_table, or as its only one; this one " +
        `exports ${tables.length} tables (clang: -Wl,--export-table)`,
    );
  }
  return guest.exports[found.name] as WebAssembly.Table;
}
