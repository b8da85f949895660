// Numbers of the page. Each is a <data> element: its value is the number itself, its text is for people.

import { element } from "./page.js";

export const data = (id: string) => element<HTMLDataElement>(id);

export function set(node: HTMLDataElement, value: number, text = count(value)): void {
  if (node.textContent === text) return;
  node.value = String(value);
  node.textContent = text;
}

/** Shows that there is no number. */
export function clear(node: HTMLDataElement): void {
  set(node, 0, "-");
}

export function count(n: number): string {
  return n.toLocaleString("en");
}

export function duration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
