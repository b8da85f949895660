// A script that runs before the polyfill is loaded. It keeps the platform's namespace, and one of its modules.
globalThis.before = {
  platform: WebAssembly,
  module: WebAssembly.compileStreaming(fetch("/examples/c-fetch/guest.wasm")),
};
