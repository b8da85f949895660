// WebAssembly text as a tree: a list is an array, everything else is a string as it was written.

export type Node = string | Node[];

const TOKEN = /\(;[^]*?;\)|;;[^\n]*|"(?:[^"\\]|\\.)*"|[()]|[^\s()";]+/g;

/** The tree of a module that Binaryen has printed. */
export function parse(text: string): Node[] {
  const open: Node[][] = [[]];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith(";;") || token.startsWith("(;")) continue;
    if (token === "(") open.push([]);
    else if (token === ")") {
      const list = open.pop()!;
      open.at(-1)!.push(list);
    } else open.at(-1)!.push(token);
  }
  return open[0]![0] as Node[];
}

export function print(node: Node): string {
  return typeof node === "string" ? node : `(${node.map(print).join(" ")})`;
}

/** The first element of a list: the name of an instruction or a field. */
export const head = (node: Node | undefined): string | undefined =>
  Array.isArray(node) && typeof node[0] === "string" ? node[0] : undefined;

/** The types in all (param ...) or (result ...) of a list. */
export function typesIn(list: Node[], field: "param" | "result"): Node[] {
  return list.flatMap((part) =>
    head(part) === field ? (part.slice(1) as Node[]).filter((type) => !isName(type)) : [],
  );
}

export const isName = (node: Node | undefined): node is string => typeof node === "string" && node.startsWith("$");
