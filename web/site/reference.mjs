// Writes the API reference of the npm package as Markdown: node reference.mjs FOLDER. It reads the declarations that
// `make build` wrote. (typedoc needs TypeScript's API in JavaScript, which TypeScript 7 no longer has, and a second
// TypeScript beside the project's is refused by npm.)
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { API, SymbolFlags } from "typescript/unstable/sync"; // pinned by its exact version

const types = fileURLToPath(new URL("../dist/npm/esm/types/", import.meta.url));
const pages = {
  index: ["fiberfill", "Calls of exports as fibers: instantiate a guest, call it, wait, cancel."],
  webassembly: [
    "fiberfill/webassembly",
    "The platform's `WebAssembly`, with JSPI and the stack-switching instructions.",
  ],
  polyfill: [
    "fiberfill/polyfill",
    "Importing it replaces the global `WebAssembly` by that of `fiberfill/webassembly`.",
  ],
  actors: ["fiberfill/actors", "Actors in wasm whose handlers block."],
};

const [folder] = process.argv.slice(2);
const scratch = await mkdtemp(join(tmpdir(), "fiberfill-reference-"));
const api = new API();
try {
  const config = join(scratch, "tsconfig.json");
  const files = Object.keys(pages).map((entry) => join(types, `web/src/${entry}.d.ts`));
  const compilerOptions = { strict: true, target: "es2022", lib: ["es2024", "dom"], types: [], module: "nodenext" };
  await writeFile(config, JSON.stringify({ compilerOptions, files }));
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  for (const [i, [entry, [name, about]]] of Object.entries(pages).entries())
    await writeFile(join(folder, `${entry}.md`), await page(project, files[i], name, about));
} finally {
  api.close();
  await rm(scratch, { recursive: true });
}

function page(project, file, name, about) {
  const { checker, program } = project;
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  const exported = checker.getExportsOfModule(module).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const sections = exported.map((symbol) => {
    const target = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return section(project, symbol.name, target);
  });
  const text = [`# ${name}`, about, ...sections].join("\n\n");
  return format(text, { parser: "markdown", printWidth: 90, proseWrap: "preserve" });
}

/** One exported symbol: its docstring, its declaration, and what its members are. */
function section(project, name, symbol) {
  const nodes = symbol.declarations.map((handle) => handle.resolve(project)).filter((node) => node);
  const parts = [`## ${name}`, prose(project.checker.getDocumentationCommentOfSymbol(symbol))];
  parts.push(fence(nodes.map((node) => declaration(node, name)).join("\n")));
  const type =
    symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface | SymbolFlags.TypeAlias)
      ? project.checker.getDeclaredTypeOfSymbol(symbol)
      : symbol.flags & SymbolFlags.Variable
        ? project.checker.getTypeOfSymbol(symbol)
        : undefined;
  if (type && !type.isUnionType()) parts.push(...members(project, type));
  return parts.filter((part) => part).join("\n\n");
}

/** A line for each member with a docstring. Members that the platform declares are the platform's to document. */
function members(project, type) {
  const lines = [];
  for (const member of project.checker.getPropertiesOfType(type)) {
    if (!member.declarations.some(({ path }) => path.startsWith(types)) || member.name.startsWith("__")) continue;
    const text = prose(project.checker.getDocumentationCommentOfSymbol(member)).replace(/\s+/g, " ");
    if (text) lines.push(`- \`${member.name}\`: ${text}`);
  }
  return lines.length ? [lines.join("\n")] : [];
}

/** A declaration as it stands, without comments, private parts and `declare`. */
function declaration(node, name) {
  const statement =
    node.parent?.parent?.kind !== undefined && /^\w+\s*[:=]/.test(text(node)) ? node.parent.parent : node;
  return text(statement)
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*(#private|private|\/\/).*$/gm, "")
    .replace(/^(export )?(declare )?/, "")
    .replace(/^(const|function|class) \w+/, (_, kind) => `${kind} ${name}`)
    .replace(/^\s*\n/gm, "")
    .trim();
}

function text(node) {
  return node
    .getSourceFile()
    .text.slice(node.pos, node.end)
    .replace(/^\s*\/\*[\s\S]*?\*\/\s*/, "")
    .trim();
}

/** A docstring as Markdown, without the platform's own pages. */
function prose(doc) {
  return doc
    .replace(/\[MDN Reference\]\([^)]*\)/g, "")
    .replace(/</g, "&lt;")
    .trim();
}

function fence(code) {
  return "```ts\n" + code + "\n```";
}
