// What a module imports and exports. The platform lists it, except JavaScriptCore (Safari, Bun 1.2) where a type of the
// garbage collector's or exnref stands in one of the imports or exports: then the module's bytes are read.

import { sections } from "../lower/sections.js";
import { WebAssembly } from "../platform.js";

/** What is known of a module, as far as it matters here. */
interface Known {
  /** Its bytes, if they are kept: wherever the platform may not list what the module has. */
  bytes?: Uint8Array;
}

const KINDS = ["function", "table", "memory", "global", "tag"] as WebAssembly.ImportExportKind[];
const IMPORTS = 2;
const EXPORTS = 7;

/** As WebAssembly.Module.imports. The script tag has no room for more than that. */
export function importsOf(module: WebAssembly.Module, known: Known): WebAssembly.ModuleImportDescriptor[] {
  const ask = () => WebAssembly.Module.imports(module);
  return SCRIPT_TAG ? ask() : listed(ask, known, IMPORTS, readImport);
}

/** As WebAssembly.Module.exports. */
export function exportsOf(module: WebAssembly.Module, known: Known): WebAssembly.ModuleExportDescriptor[] {
  const ask = () => WebAssembly.Module.exports(module);
  return SCRIPT_TAG ? ask() : listed(ask, known, EXPORTS, readExport);
}

function readImport(r: Reader): WebAssembly.ModuleImportDescriptor {
  const [module, name, kind] = [r.name(), r.name(), r.byte()];
  if (kind === 0) r.number();
  if (kind === 1 || kind === 3) r.type();
  if (kind === 1 || kind === 2) r.limits();
  if (kind === 3 || kind === 4) r.byte();
  if (kind === 4) r.number();
  return { module, name, kind: KINDS[kind]! };
}

function readExport(r: Reader): WebAssembly.ModuleExportDescriptor {
  const [name, kind] = [r.name(), r.byte()];
  r.number();
  return { name, kind: KINDS[kind]! };
}

function listed<T>(ask: () => T[] | undefined, { bytes }: Known, section: number, read: (r: Reader) => T): T[] {
  let failure: unknown;
  try {
    const list = ask();
    if (list) return list; // Bun 1.2 may return undefined
  } catch (error) {
    failure = error;
  }
  if (!bytes) throw failure;
  return readAll(bytes, section, read);
}

/** All imports that a module's bytes have, also those that the platform provides itself and does not list. */
export const allImports = (bytes: Uint8Array): WebAssembly.ModuleImportDescriptor[] =>
  readAll(bytes, IMPORTS, readImport);

function readAll<T>(bytes: Uint8Array, section: number, read: (r: Reader) => T): T[] {
  for (const [id, contents] of sections(bytes)) {
    if (id !== section) continue;
    const r = new Reader(contents);
    return Array.from({ length: r.number() }, () => read(r));
  }
  return [];
}

/** Reads a section of a module that the engine has accepted. */
class Reader {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  byte(): number {
    return this.bytes[this.#at++]!;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  name(): string {
    const size = this.number();
    this.#at += size;
    return new TextDecoder().decode(this.bytes.subarray(this.#at - size, this.#at));
  }

  /** Passes over the type of a value. */
  type(): void {
    const type = this.byte();
    if (type === 0x63 || type === 0x64) this.number(); // (ref null? and a heap type, which may be negative
  }

  /** Passes over the limits of a table or a memory. */
  limits(): void {
    const flags = this.byte();
    this.number();
    if (flags & 1) this.number();
    if (flags & 8) this.number(); // the size of its pages
  }
}
