// The live fibers, as fiberfill lists them: running ones first, then waiting ones, the longest wait first, then queued
// ones.

import type { Fiber } from "../src/index.js";
import { element } from "./page.js";

const ROWS = 8;
const order = { running: 0, waiting: 1, queued: 2, done: 3, failed: 3, cancelled: 3 };

interface Row {
  readonly tr: HTMLTableRowElement;
  readonly cells: HTMLTableCellElement[];
  readonly button: HTMLButtonElement;
  fiber: Fiber | undefined;
}

export class Table {
  readonly #rows: Row[];
  readonly #rest = element("rest");

  constructor() {
    const body = element<HTMLTableSectionElement>("fibers-live");
    this.#rows = Array.from({ length: ROWS }, () => {
      const tr = body.insertRow();
      const cells = Array.from({ length: 4 }, () => tr.insertCell());
      const button = document.createElement("button");
      button.type = "button";
      button.append(Object.assign(document.createElement("span"), { textContent: "Cancel" }));
      tr.insertCell().append(button);
      const row: Row = { tr, cells, button, fiber: undefined };
      button.addEventListener("click", () => row.fiber?.cancel());
      return row;
    });
    this.update();
  }

  update(): void {
    const all = fiberfill.fibers();
    const fibers = first(all);
    const now = performance.now();
    this.#rows.forEach((row, i) => {
      const fiber = (row.fiber = fibers[i]);
      row.button.hidden = !fiber;
      row.tr.classList.toggle("empty", !fiber);
      const texts = fiber
        ? [
            fiber.name,
            fiber.state,
            fiber.waitsFor ?? "",
            `${Math.max(0, Math.round(now - fiber.since)).toLocaleString("en")} ms`,
          ]
        : [];
      row.cells.forEach((cell, k) => write(cell, texts[k] ?? ""));
      if (fiber) row.button.setAttribute("aria-label", `Cancel ${fiber.name}`);
    });
    const more = all.length - ROWS;
    write(
      this.#rest,
      fibers.length === 0 ? "No fiber is alive now." : more > 0 ? `and ${more.toLocaleString("en")} more` : "",
    );
  }
}

/** The first fibers in the table's order. Sorting ten thousand to show eight would cost a frame. */
function first(all: Fiber[]): Fiber[] {
  const found: Fiber[] = [];
  for (const fiber of all) {
    let i = found.length;
    while (i > 0 && before(fiber, found[i - 1]!)) i--;
    if (i === ROWS) continue;
    found.splice(i, 0, fiber);
    if (found.length > ROWS) found.pop();
  }
  return found;
}

function before(a: Fiber, b: Fiber): boolean {
  return (order[a.state] - order[b.state] || a.since - b.since || a.id - b.id) < 0;
}

function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
