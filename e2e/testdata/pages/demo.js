globalThis.demo = {
  // A small run with each guest. Throws if an error escapes in the frame.
  async run() {
    const page = document.getElementById("page").contentWindow;
    const escaped = [];
    page.addEventListener("error", (event) => escaped.push(String(event.error ?? event.message)));
    page.addEventListener("unhandledrejection", (event) => escaped.push(String(event.reason)));
    const results = {};
    for (const guest of ["c", "wat", "go"])
      results[guest] = await drive(page, { guest, fibers: 200, latency: 20, failure: 10, raw: true });
    if (escaped.length > 0) throw new Error(`escaped in the frame: ${escaped.join("; ")}`);
    return results;
  },
};
