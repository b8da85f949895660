globalThis.shows = {
  /** The text of the page in /shown/, once it has one. */
  async text() {
    const frame = Object.assign(document.createElement("iframe"), { src: "/shown/index.html" });
    document.body.append(frame);
    await new Promise((resolve) => (frame.onload = resolve));
    const { body } = frame.contentDocument;
    return new Promise((resolve) => {
      const look = () => body.textContent.trim() && resolve(body.textContent.trim());
      new MutationObserver(look).observe(body, { childList: true, characterData: true, subtree: true });
      look();
    });
  },
};
