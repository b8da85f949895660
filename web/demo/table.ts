// The live fibers, as fiberfill lists them: those that run first, then the ones
// that have waited longest, then those that are queued.

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
      button.textContent = "Cancel";
      tr.insertCell().append(button);
      const row: Row = { tr, cells, button, fiber: undefined };
      button.addEventListener("click", () => row.fiber?.cancel());
      return row;
    });
    this.update();
  }

  update(): void {
    const fibers = fiberfill.fibers().sort((a, b) => order[a.state] - order[b.state] || a.since - b.since || a.id - b.id);
    const now = performance.now();
    this.#rows.forEach((row, i) => {
      const fiber = (row.fiber = fibers[i]);
      row.button.hidden = !fiber;
      row.tr.classList.toggle("empty", !fiber);
      const texts = fiber ? [fiber.name, fiber.state, fiber.waitsFor ?? "", `${Math.max(0, Math.round(now - fiber.since)).toLocaleString("en")} ms`] : [];
      row.cells.forEach((cell, k) => write(cell, texts[k] ?? ""));
      if (fiber) row.button.setAttribute("aria-label", `Cancel ${fiber.name}`);
    });
    const more = fibers.length - ROWS;
    write(this.#rest, fibers.length === 0 ? "No fiber is alive now." : more > 0 ? `and ${more.toLocaleString("en")} more` : "");
  }
}

function write(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
