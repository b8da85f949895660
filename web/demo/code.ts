// Shows the code that runs, taken from the files that run: of the guest the
// function item, of the page the function that loads the guest.

import { element } from "./page.js";

// The file a guest was built from, and where in it item stands.
const sources: { [guest: string]: [file: string, item: RegExp] } = {
  c: ["c-fetch.c", /^EXPORT\("item"\)[^]*?\n\}/m],
  wat: ["wat-fetch.wat", /^  \(func \$item \([^]*?(?=\n\n  ;; \w+\()/m],
  go: ["go-fetch.go", /^func item[^]*?\n\}/m],
};

export async function showCode(guest: string): Promise<void> {
  element("page-code").textContent = (guest === "go" ? loadGo : load).toString();
  const [file, item] = sources[guest]!;
  const text = await (await fetch(file)).text();
  const found = item.exec(text)?.[0] ?? text;
  const indent = /^ */.exec(found)![0];
  element("guest-code").textContent = found.replaceAll(`\n${indent}`, "\n").trim();
}
