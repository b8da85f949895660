// Ways for an error to escape from a page, and one that only looks like an escape. Each function returns when it has
// happened.
const turn = () => new Promise((resolve) => setTimeout(resolve));

globalThis.escapes = {
  deep() {
    throw new Error("deep");
  },
  throwLater() {
    setTimeout(() => {
      throw new Error("thrown later");
    });
  },
  rejectAlone() {
    Promise.reject(new Error("rejected alone"));
  },
  rejectNothing() {
    Promise.reject(undefined);
  },
  // The browser first reports the rejection and then revokes it.
  async handleLate() {
    const rejected = Promise.reject(new Error("handled late"));
    await turn();
    await turn();
    rejected.catch(() => {});
  },
};
