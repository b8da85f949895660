// Shows the code that runs, cut out of the files that run: the guest's function item, the page's function that loads
// the guest, and other excerpts.

import { element } from "./page.js";

// The file that a guest was built from, and where item stands in it.
const sources: { [guest: string]: [file: string, item: RegExp] } = {
  c: ["c-fetch.c", /^EXPORT\("item"\)[^]*?\n\}/m],
  wat: ["wat-fetch.wat", /^  \(func \$item \([^]*?(?=\n\n  ;; \w+\()/m],
  go: ["go-fetch.go", /^func item[^]*?\n\}/m],
};

export async function showCode(guest: string): Promise<void> {
  element("page-code").textContent = (guest === "go" ? loadGo : load).toString();
  const [file, item] = sources[guest]!;
  element("guest-code").textContent = await excerpt(file, item);
}

/** A part of a file, without its indentation; several parts if the expression is global. */
export async function excerpt(file: string, part: RegExp): Promise<string> {
  const text = await (await fetch(file)).text();
  const found = text.match(part);
  if (!found) return text;
  const parts = part.global ? [...found] : [found[0]];
  return parts.map((one) => one.replaceAll(`\n${/^ */.exec(one)![0]}`, "\n").trim()).join("\n\n");
}
