// The platform's own WebAssembly. fiberfill/polyfill replaces the global, and what fiberfill makes for guests must not
// become guests of the replacement.

export const WebAssembly = globalThis.WebAssembly;
