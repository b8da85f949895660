// The build tool embeds a wasm file as its bytes (cmd/build/embed.go).
declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}

// Whether this is the script tag, which has no fiberfill/webassembly: what only that needs is left out there.
declare const SCRIPT_TAG: boolean;

// What each Why of package shadow says, from ByName on.
declare const WHYS: readonly string[];

// fiberfill's version: that of the npm package.
declare const VERSION: string;

// JavaScript Promise Integration, not yet in TypeScript's own types.
declare namespace WebAssembly {
  class Suspending {
    constructor(fn: Function);
  }
  function promising(fn: Function): (...args: unknown[]) => Promise<unknown>;
  class SuspendError extends Error {}
}
