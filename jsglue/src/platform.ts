// The platform's own WebAssembly. fiberfill/polyfill replaces the global, and the modules that fiberfill makes for
// guests must not become guests of the replacement.

export const WebAssembly = globalThis.WebAssembly;

/** What is thrown where an import would have to wait and cannot. */
export const SuspendError: new (message?: string) => Error =
  WebAssembly?.SuspendError ??
  class SuspendError extends Error {
    static override get name(): string {
      return "SuspendError";
    }

    override readonly name = "SuspendError";
  };
