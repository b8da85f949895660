// The site's settings. `make docs` copies this file, the theme and the pages into web/dist/site-pages and builds there.
import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";

const source = "https://github.com/fiberfill/fiberfill";
const { version } = JSON.parse(readFileSync("web/npm/package.json", "utf8"));

const guides = [
  ["Start in five minutes", "start"],
  ["Calling wasm from JavaScript", "javascript"],
  ["Guest languages", "languages"],
  ["Fibers of your own", "own-fibers"],
  ["Stack-switching instructions", "instructions"],
  ["Actors", "actors"],
  ["A server", "server"],
  ["Go programs", "go"],
];
const coming = [
  ["From raw JSPI", "from-jspi"],
  ["From Asyncify", "from-asyncify"],
];
const facts = [
  ["Errors", "errors"],
  ["Limitations", "limitations"],
  ["Engines", "engines"],
  ["Compared", "compared"],
  ["Benchmark", "bench/"],
  ["What is stable", "stable"],
];
const reference = [
  ["fiberfill", "reference/index"],
  ["fiberfill/webassembly", "reference/webassembly"],
  ["fiberfill/polyfill", "reference/polyfill"],
  ["fiberfill/actors", "reference/actors"],
  ["fiberfill.h", "reference/c"],
  ["Go packages", "reference/go"],
];
const inside = [
  ["How it is built", "architecture"],
  ["The rules", "rules"],
  ["Five documents", "proposals"],
];
const group = (text, pages) => ({
  text,
  items: pages.map(([text, page]) => ({ text, link: `/${page}` })),
});

export default defineConfig({
  title: "fiberfill",
  description: "Fibers for WebAssembly, in the engines people have today",
  base: process.env.SITE_BASE,
  outDir: process.env.SITE_OUT,
  cleanUrls: false, // a plain file server finds page.html, not page
  head: [["link", { rel: "icon", href: process.env.SITE_BASE + "icon.svg" }]],
  markdown: {
    // The anchors that GitHub gives headings: the documents are read there, too.
    anchor: {
      slugify: (text) =>
        text
          .toLowerCase()
          .replaceAll(" ", "-")
          .replace(/[^\p{L}\p{N}_-]/gu, ""),
    },
    // Indented code may be wider than the screen: it can be scrolled by keyboard.
    config(md) {
      md.renderer.rules.code_block = (tokens, at) =>
        `<pre tabindex="0"><code>${md.utils.escapeHtml(tokens[at].content)}</code></pre>\n`;
    },
    languageAlias: { wat: "wasm", mjs: "javascript", console: "shellscript" },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    logo: "/icon.svg",
    search: { provider: "local" },
    nav: [
      { text: "Guide", link: "/start" },
      { text: "Reference", link: "/reference/" },
      { text: "Errors", link: "/errors" },
      { text: "Demo", link: "/demo/index.html", target: "_self" },
      { text: "Instructions", link: "/demo/instructions/index.html", target: "_self" },
      { text: version, link: source + "/blob/main/CHANGELOG.md" },
    ],
    sidebar: [
      group("Guide", guides),
      group("Coming from", coming),
      group("Good to know", facts),
      group("Reference", reference),
      group("Inside", inside),
    ],
    outline: [2, 3],
    notFound: { linkText: "Take me home", linkLabel: "Take me home" }, // the default label does not match its text
    socialLinks: [
      { icon: "github", link: source },
      { icon: "npm", link: "https://www.npmjs.com/package/fiberfill" },
    ],
    footer: { message: "MIT licence" },
  },
});
