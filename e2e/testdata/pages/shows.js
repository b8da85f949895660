globalThis.shows = {
  /** The text of the page in /shown/, once it has one. */
  async text() {
    const frame = Object.assign(document.createElement("iframe"), { src: "/shown/index.html" });
    document.body.append(frame);
    for (;;) {
      const text = frame.contentDocument?.body?.textContent.trim();
      if (text) return text;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  },
};
