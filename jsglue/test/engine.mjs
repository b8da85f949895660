// What the engine that runs the tests has.

const { v8 = "" } = globalThis.process?.versions ?? {};

/** Whether it has a JSPI that works. Node 24 has an earlier one, in which guests hang. */
export const hasJSPI = "Suspending" in globalThis.WebAssembly && !v8.startsWith("13.6.");

const stacksBeginWithErrors = new Error("text").stack.includes("text"); // not in Firefox and Safari

/** What an engine's console shows of an error. */
export const shown = (error) => (stacksBeginWithErrors ? error.stack : `${error}\n${error.stack}`);
