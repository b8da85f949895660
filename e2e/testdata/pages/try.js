/** Runs a text in the page for the instructions. Resolves to what it shows at the last step. */
async function tried(page, text) {
  const element = (id) => page.document.getElementById(id);
  while (!element("position").textContent) await new Promise(requestAnimationFrame); // the page's own first run
  element("source").value = text;
  const ran = new Promise((resolve) => element("program").addEventListener("ran", resolve, { once: true }));
  element("run").click();
  await ran;
  element("last").click();
  const shown = (id) => (element(id).hidden ? "" : element(id).textContent);
  return {
    outcome: shown("outcome"),
    line: shown("line"),
    running: shown("running"),
    saved: shown("saved"),
    printed: shown("printed"),
    position: shown("position"),
    engine: shown("engine"),
    steps: [...page.document.querySelectorAll("#lane-events li")].map((step) => step.textContent),
  };
}

globalThis.tries = {
  /** The same for each text of a list, in a frame. Throws if an error escapes in the frame. */
  async all() {
    const page = document.getElementById("page").contentWindow;
    const escaped = [];
    page.addEventListener("error", (event) => escaped.push(String(event.error ?? event.message)));
    page.addEventListener("unhandledrejection", (event) => escaped.push(String(event.reason)));
    const results = [];
    for (const text of await (await fetch("/programs/all.json")).json()) results.push(await tried(page, text));
    if (escaped.length > 0) throw new Error(`escaped in the frame: ${escaped.join("; ")}`);
    return results;
  },
};
