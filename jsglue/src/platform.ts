// The platform's own WebAssembly. fiberfill/polyfill puts another into its place on the global, and what is made here
// for guests must not become guests of that.

export const WebAssembly = globalThis.WebAssembly;
