// Makes a module tell its stack switches. Around each of the instructions a call of an imported function is put, which
// returns what it is given: the instruction works on the same values, and what is told is what happens.
//
// The module must be as Binaryen prints it: folded, with names for all it refers to.

import { head, isName, parse, print, typesIn, type Node } from "./text.js";

/** What an imported function of the module "trace" tells; the function's name is the index of this. */
export type Told =
  | { op: "new"; name: string } // (continuation) -> it
  | { op: "binding" | "bound" | "arrived" } // (continuation) -> it
  | { op: "resume" | "resume_throw"; tag?: string; switches: string[] } // (values, continuation, depth)
  | { op: "depth" } // () -> how many stacks there are
  | { op: "suspended"; tag: string } // (continuation, depth) -> continuation
  | { op: "returned" } // (values, depth) -> values
  | { op: "threw" } // (depth) -> nothing
  | { op: "suspend"; tag: string } // (values) -> values
  | { op: "switch"; tag: string }; // (values, continuation) -> them

interface Signature {
  params: Node[];
  results: Node[];
}

const NUMBERS = ["i32", "i64", "f32", "f64"];
const numbers = (types: Node[]): Node[] => (types.every((type) => NUMBERS.includes(type as string)) ? types : []);
const list = (field: string, types: Node[]): Node[] => (types.length > 0 ? [[field, ...types]] : []);

/** The text of the module with its calls, and what each imported function tells. */
export function instrument(text: string): { text: string; told: Told[] } {
  const module = parse(text);
  const pass = new Pass(module);
  const fields = module.map((field) => (head(field) === "func" ? pass.function(field as Node[]) : field));
  const first = fields.findIndex((field) => Array.isArray(field) && !["type", "rec"].includes(head(field)!));
  fields.splice(first < 0 ? fields.length : first, 0, ...pass.imports);
  return { text: print(fields), told: pass.told };
}

class Pass {
  readonly told: Told[] = [];
  readonly imports: Node[] = [];
  readonly #functions = new Map<string, Signature>(); // types of functions
  readonly #continuations = new Map<string, string>(); // types of continuations, each with its function's
  readonly #tags = new Map<string, Signature>();
  #labels = new Map<string, Node[]>(); // in scope: what a branch takes
  #locals: Node[] = [];
  #sites = 0;

  constructor(module: Node[]) {
    const types = module.flatMap((field) => (head(field) === "rec" ? (field.slice(1) as Node[]) : [field]));
    for (const field of types) if (head(field) === "type") this.#type(field as Node[]);
    for (const field of module) {
      const tag = head(field) === "import" ? (field as Node[]).find((part) => head(part) === "tag") : field;
      if (head(tag) === "tag") this.#tags.set(tag![1] as string, this.#signature(tag as Node[]));
    }
  }

  #type([, name, definition]: Node[]): void {
    let inner = definition as Node[];
    while (head(inner) === "sub") inner = inner.at(-1) as Node[];
    if (head(inner) === "cont") this.#continuations.set(name as string, inner[1] as string);
    if (head(inner) === "func") {
      this.#functions.set(name as string, { params: typesIn(inner, "param"), results: typesIn(inner, "result") });
    }
  }

  #signature(node: Node[]): Signature {
    const type = node.find((part) => head(part) === "type");
    if (type) return this.#functions.get(type[1] as string)!;
    return { params: typesIn(node, "param"), results: typesIn(node, "result") };
  }

  #of(continuation: Node): Signature {
    return this.#functions.get(this.#continuations.get(continuation as string)!)!;
  }

  /** Whether a type is a reference to a continuation. */
  #refers(type: Node | undefined): boolean {
    return Array.isArray(type) && type[0] === "ref" && this.#continuations.has(type.at(-1) as string);
  }

  /** An imported function that tells this, and returns some of its parameters. */
  #tell(told: Told, params: Node[], results: Node[] = params): string {
    const name = `$trace.${this.told.length}`;
    const type = ["func", name, ...list("param", params), ...list("result", results)];
    this.imports.push(["import", '"trace"', `"${this.told.length}"`, type]);
    this.told.push(told);
    return name;
  }

  function(node: Node[]): Node {
    this.#labels = new Map();
    this.#locals = [];
    const isHeader = (part: Node) =>
      !Array.isArray(part) || ["type", "param", "result", "export", "import"].includes(head(part)!);
    const split = node.findIndex((part) => !isHeader(part));
    if (split < 0) return node;
    const header = node.slice(0, split);
    const locals = node.slice(split).filter((part) => head(part) === "local");
    const body = node.slice(split + locals.length).map((part) => this.#expression(part));
    const last = header.findLast((part) => head(part) === "param") as Node[] | undefined;
    if (last && isName(last[1]) && this.#refers(last[2])) {
      const told = this.#tell({ op: "arrived" }, [last[2]!]);
      body.unshift(["local.set", last[1], ["call", told, ["local.get", last[1]]]]);
    }
    return [...header, ...locals, ...this.#locals, ...body];
  }

  #expression(node: Node): Node {
    if (!Array.isArray(node)) return node;
    switch (head(node)) {
      case "cont.new":
        return this.#new(node);
      case "cont.bind":
        return this.#bind(node);
      case "suspend":
        return this.#suspend(node);
      case "resume":
      case "resume_throw":
      case "resume_throw_ref":
        return this.#resume(node);
      case "switch":
        return this.#switch(node);
    }
    const label = node[1];
    const scoped = ["block", "loop", "if", "try_table", "try"].includes(head(node)!) && isName(label);
    if (!scoped) return node.map((part) => this.#expression(part));
    const outer = this.#labels;
    const { params, results } = this.#signature(node);
    this.#labels = new Map(outer).set(label, head(node) === "loop" ? params : results);
    const inner = node.map((part) => this.#expression(part));
    this.#labels = outer;
    return inner;
  }

  #expressions = (nodes: Node[]): Node[] => nodes.map((node) => this.#expression(node));

  #new([, type, body]: Node[]): Node {
    const name = head(body) === "ref.func" ? (body![1] as string).slice(1) : (type as string).slice(1);
    const told = this.#tell({ op: "new", name }, [["ref", type!]]);
    return ["call", told, ["cont.new", type!, this.#expression(body!)]];
  }

  #bind([, from, to, ...operands]: Node[]): Node {
    const inner = this.#expressions(operands);
    const before = this.#tell({ op: "binding" }, [["ref", "null", from!]]);
    const after = this.#tell({ op: "bound" }, [["ref", to!]]);
    return ["call", after, ["cont.bind", from!, to!, ...inner.slice(0, -1), ["call", before, inner.at(-1)!]]];
  }

  #suspend([, tag, ...operands]: Node[]): Node {
    const { params, results } = this.#tags.get(tag as string)!;
    const told = this.#tell({ op: "suspend", tag: tag as string }, numbers(params));
    return ["block", ...list("result", results), ...this.#expressions(operands), ["call", told], ["suspend", tag!]];
  }

  #switch([, type, tag, ...operands]: Node[]): Node {
    const { params } = this.#of(type!);
    const results = this.#of((params.at(-1) as Node[]).at(-1)!).params; // what comes with the switch back
    const values = numbers(params.slice(0, -1));
    const told = this.#tell({ op: "switch", tag: tag as string }, [...values, ["ref", "null", type!]]);
    const back = results.at(-1);
    const arrived = this.#refers(back) ? [["call", this.#tell({ op: "arrived" }, [back!])]] : [];
    const inner = [...this.#expressions(operands), ["call", told], ["switch", type!, tag!], ...arrived];
    return ["block", ...list("result", results), ...inner];
  }

  /**
   * Each clause leads to a block of its own, which tells the suspension and branches on. A local keeps the depth: it
   * says which of the nested resumes was left. No instruction without a result may stand between a continuation and
   * who takes it: Binaryen 132 would keep it in a local of a type that is too wide.
   */
  #resume([op, type, ...rest]: Node[]): Node {
    const site = this.#sites++;
    const depth = `$trace.depth.${site}`;
    this.#locals.push(["local", depth, "i32"]);
    const { params, results } = this.#of(type!);
    const tag = op === "resume_throw" ? (rest.shift() as string) : undefined;
    const clauses = rest.filter((part) => head(part) === "on") as string[][];
    const operands = this.#expressions(rest.slice(clauses.length));
    const switches = clauses.filter((clause) => clause[2] === "switch").map((clause) => clause[1]!);
    const last: Node = ["ref", "null", type!];
    const passed = op === "resume" ? numbers(params) : tag ? numbers(this.#tags.get(tag)!.params) : [];
    const told: Told = { op: op === "resume" ? "resume" : "resume_throw", switches, ...(tag ? { tag } : {}) };
    const begin = this.#tell(told, [...passed, last, "i32"], [...passed, last]);
    const returned = this.#tell({ op: "returned" }, [...numbers(results), "i32"], numbers(results));
    const threw = this.#tell({ op: "threw" }, ["i32"], []);

    const own = clauses.map((clause, i) => (clause[2] === "switch" ? clause : ["on", clause[1]!, `$on.${site}.${i}`]));
    let inner: Node[] = [
      ["block", `$threw.${site}`, ["result", "exnref"],
        ["try_table", ...list("result", results), ["catch_all_ref", `$threw.${site}`],
          ...operands, ["local.tee", depth, ["call", this.#tell({ op: "depth" }, [], ["i32"])]], ["call", begin],
          [op!, type!, ...(tag ? [tag] : []), ...own]],
        ["local.get", depth], ["call", returned], ["br", `$done.${site}`]],
      ["call", threw, ["local.get", depth]], ["throw_ref"],
    ]; // prettier-ignore
    clauses.forEach(([, name, label], i) => {
      if (label === "switch") return;
      const taken = this.#labels.get(label!);
      if (!taken) throw new Error(`the label ${label} is that of the function`);
      const suspended = this.#tell({ op: "suspended", tag: name! }, [taken.at(-1)!, "i32"], [taken.at(-1)!]);
      inner = [
        ["block", `$on.${site}.${i}`, ["result", ...taken], ...inner],
        ["local.get", depth], ["call", suspended], ["br", label!],
      ]; // prettier-ignore
    });
    return ["block", `$done.${site}`, ...list("result", results), ["local.set", depth, ["i32.const", "-1"]], ...inner];
  }
}
