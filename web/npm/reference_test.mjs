// Every public symbol of the package has its reference: a docstring, which editors show and the reference is made from.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { API, SymbolFlags } from "typescript/unstable/sync"; // pinned by its exact version

const types = fileURLToPath(new URL("../dist/npm/esm/types/", import.meta.url));
const entries = ["index", "webassembly", "polyfill", "actors"];
const { Class, Interface, TypeAlias, Alias, Property, Method, Accessor } = SymbolFlags;

/** Calls fn with the name, the docstring and the declaration of every symbol that users see. */
async function publicSymbols(fn) {
  const folder = await mkdtemp(join(tmpdir(), "fiberfill-reference-"));
  const api = new API();
  try {
    const config = join(folder, "tsconfig.json");
    const files = entries.map((entry) => join(types, `web/src/${entry}.d.ts`));
    const compilerOptions = { strict: true, target: "es2022", lib: ["es2024", "dom"], types: [], module: "nodenext" };
    await writeFile(config, JSON.stringify({ compilerOptions, files }));
    const { checker, program } = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    const ours = (symbol) => symbol.declarations.some(({ path }) => path.startsWith(types));
    const seen = new Set();

    const visit = (name, symbol) => {
      if (seen.has(symbol.id) || !ours(symbol) || symbol.name.startsWith("__#")) return; // a private field
      seen.add(symbol.id);
      fn(name, checker.getDocumentationCommentOfSymbol(symbol));
      if (symbol.flags & (Class | Interface | TypeAlias)) members(name, checker.getDeclaredTypeOfSymbol(symbol));
      // What an object of such a type holds: the options in an option, the functions of a namespace.
      else if (symbol.flags & (Property | Method | Accessor)) members(name, checker.getTypeOfSymbol(symbol));
    };
    const members = (name, type) => {
      for (const part of type.isUnionType() ? type.getTypes() : [type])
        for (const member of checker.getPropertiesOfType(part)) visit(`${name}.${member.name}`, member);
    };
    for (const [i, file] of files.entries()) {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file));
      for (const symbol of module ? checker.getExportsOfModule(module) : []) {
        const target = symbol.flags & Alias ? checker.getAliasedSymbol(symbol) : symbol;
        visit(`${entries[i]}: ${symbol.name}`, target);
        if (target.valueDeclaration) members(`${entries[i]}: ${symbol.name}`, checker.getTypeOfSymbol(target));
      }
    }
  } finally {
    api.close();
    await rm(folder, { recursive: true });
  }
}

test("no public name is one that the script tag shortens", async () => {
  const source = await readFile(fileURLToPath(new URL("../../cmd/build/names.go", import.meta.url)), "utf8");
  const shortened = new Set(/Fields\(`([^`]+)`/.exec(source)[1].trim().split(/\s+/));
  assert.ok(shortened.size > 20);
  await publicSymbols((name) => {
    assert.ok(!shortened.has(name.split(/[.: ]+/).at(-1)), name);
  });
});

test("every public symbol has a docstring, which names no rule", async () => {
  const wrong = [];
  let count = 0;
  await publicSymbols((name, doc) => {
    count++;
    if (!doc) wrong.push(`${name} has none`);
    if (/\b[A-Z](-[A-Z]+)?-\d|RATIONALE/.test(doc))
      wrong.push(`${name} refers to what readers of a tooltip do not have`);
  });
  assert.deepEqual(wrong, []);
  assert.ok(count > 100, `${count} symbols`);
});
