// What earlier scripts have left in the page: the global of the script tag, and the functions of load.js.

declare global {
  const fiberfill: typeof import("../src/index.js");
  function load(file: string): Promise<{ item: import("../src/index.js").FiberFunction }>;
  function loadGo(): Promise<{ item(url: string, signal: AbortSignal): Promise<number> }>;
}

/** Returns the element with an id that index.html has. */
export function element<E extends Element = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found as Element as E;
}

export const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
export const darkScheme = matchMedia("(prefers-color-scheme: dark)");
