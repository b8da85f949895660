// A script that has run before the polyfill was there: it has the platform's namespace, and a module of it.
globalThis.before = {
  platform: WebAssembly,
  module: WebAssembly.compileStreaming(fetch("/examples/c-fetch/guest.wasm")),
};
