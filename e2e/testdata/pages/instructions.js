// The tests of the stack-switching instructions (jsglue/test/instructions_*_test.mjs), in a browser.

globalThis.instructions = {
  /** Resolves to how many tests have passed, and what each of the others has thrown. */
  async run() {
    const { run } = await import("./node-test.js");
    for (const name of ["binary", "host", "resume", "switch", "throw", "types"]) {
      await import(`/jsglue/test/instructions_${name}_test.mjs`);
    }
    return run();
  },
};
