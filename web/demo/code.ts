// Shows the code that runs, taken from the files that run: of the guest the function item, of the page the function
// that loads the guest; and whatever else is shown of files.

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
  element("guest-code").textContent = await excerpt(file, item);
}

/** A part of a file, or its parts if the expression is global, without their indentation. */
export async function excerpt(file: string, part: RegExp): Promise<string> {
  const text = await (await fetch(file)).text();
  const found = text.match(part);
  if (!found) return text;
  const parts = part.global ? [...found] : [found[0]];
  return parts.map((one) => one.replaceAll(`\n${/^ */.exec(one)![0]}`, "\n").trim()).join("\n\n");
}
