// What happens between the fibers of a program, as it happens: a lane for each fiber, an arrow for what one sends to
// another, a mark for what one does by itself. A screen reader gets it as a list of sentences.

import { element } from "./page.js";

export class Lanes {
  readonly #box = element("lanes");
  readonly #heads = element("lane-heads");
  readonly #list = element("lane-events");

  constructor(readonly names: readonly string[]) {
    this.#box.style.setProperty("--lanes", String(names.length));
    this.#heads.replaceChildren(...names.map((name) => node("span", "", name)));
    this.#list.replaceChildren();
    this.#box.classList.add("played");
  }

  /** One lane sends something to another. */
  arrow(from: number, to: number, what: string): void {
    const wide = Math.abs(to - from) + 1;
    const arrow = node("span", to > from ? "arrow" : "arrow back", "");
    arrow.append(node("span", "unseen", `${this.names[from]} to ${this.names[to]}: `), node("b", "", what));
    arrow.style.setProperty("--wide", String(wide));
    arrow.style.gridColumn = `${Math.min(from, to) + 1} / span ${wide}`;
    this.#add(arrow);
  }

  /** A lane does something by itself. */
  mark(lane: number, what: string): void {
    const mark = node("span", "mark", "");
    mark.append(node("span", "unseen", `${this.names[lane]}: `), node("b", "", what));
    mark.style.gridColumn = String(lane + 1);
    this.#add(mark);
  }

  #add(event: HTMLElement): void {
    const item = document.createElement("li");
    item.append(event);
    this.#list.append(item);
    this.#box.scrollTop = this.#box.scrollHeight;
  }
}

function node(tag: string, className: string, textContent: string): HTMLElement {
  return Object.assign(document.createElement(tag), { className, textContent });
}
