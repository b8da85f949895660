// A page with fiberfill/polyfill, as seen by code that only knows the global WebAssembly. The code of raw.js, written
// for JSPI, runs on fibers here.
import { check, equal, rejection, thrown } from "./check.js";
import { host } from "./guests.js";

const { platform } = before;
const guest = "/examples/c-fetch/guest.wasm";

// Every way to make an instance from bytes and imports.
const ways = {
  instantiate: async (bytes, imports) => (await WebAssembly.instantiate(bytes, imports)).instance,
  instantiateStreaming: async (_, imports) => (await WebAssembly.instantiateStreaming(fetch(guest), imports)).instance,
  compile: async (bytes, imports) => WebAssembly.instantiate(await WebAssembly.compile(bytes), imports),
  compileStreaming: async (_, imports) =>
    WebAssembly.instantiate(await WebAssembly.compileStreaming(await fetch(guest)), imports),
  Module: async (bytes, imports) => new WebAssembly.Instance(new WebAssembly.Module(bytes), imports),
};

// Ways with modules of the platform's. They take no Suspending where there is no JSPI.
const foreign = {
  copy: async (bytes, imports) => new WebAssembly.Instance(structuredClone(new WebAssembly.Module(bytes)), imports),
  before: async (_, imports) => WebAssembly.instantiate(await before.module, imports),
};
for (const [name, way] of Object.entries(foreign))
  ways[name] = async (bytes, imports) => {
    if (platform.Suspending) return way(bytes, imports);
    check((await rejection(way(bytes, imports))) instanceof WebAssembly.LinkError, `${name} is refused`);
    return ways.instantiate(bytes, imports);
  };

async function item(way, bytes, id) {
  const { imports, attach } = host((fn) => new WebAssembly.Suspending(fn));
  imports.fiberfill = { yield: new WebAssembly.Suspending(() => {}) };
  const instance = await ways[way](bytes, imports);
  check(instance instanceof WebAssembly.Instance && instance instanceof platform.Instance, `${way} makes an Instance`);
  attach(instance);
  const { memory, item } = instance.exports;
  const at = memory.grow(1) * 65536;
  const { written } = new TextEncoder().encodeInto(
    `${location.origin}/item?id=${id}`,
    new Uint8Array(memory.buffer, at),
  );
  return WebAssembly.promising(item)(at, written);
}

globalThis.polyfill = {
  async run() {
    check(WebAssembly !== platform, "the polyfill is installed");
    const bytes = await (await fetch(guest)).arrayBuffer();

    // Everything except JSPI and what takes modules is the platform's own; nothing is missing, or new except JSPI.
    const replaced = [
      "promising",
      "Suspending",
      "Module",
      "Instance",
      "compile",
      "compileStreaming",
      "instantiate",
      "instantiateStreaming",
      "validate",
    ];
    const jspi = ["SuspendError", "Suspending", "promising"];
    equal(
      Reflect.ownKeys(WebAssembly).map(String).sort(),
      [...new Set([...Reflect.ownKeys(platform).map(String), ...jspi])].sort(),
      "the properties of WebAssembly",
    );
    for (const name of Reflect.ownKeys(platform)) {
      if (platform[name] !== platform[name]) continue; // WebKit makes a new JSTag for each look
      equal(
        WebAssembly[name] === platform[name],
        !replaced.includes(name),
        `WebAssembly.${String(name)} is the platform's`,
      );
    }
    const module = new WebAssembly.Module(bytes);
    equal(
      JSON.stringify(WebAssembly.Module.imports(module)),
      JSON.stringify(platform.Module.imports(await before.module)),
      "imports",
    );
    equal(
      WebAssembly.Module.customSections(module, "name").length,
      platform.Module.customSections(await before.module, "name").length,
      "custom sections",
    );
    equal([WebAssembly.validate(bytes), WebAssembly.validate(bytes.slice(0, 9))], [true, false], "validate");

    // The polyfill refuses what the platform refuses, with the same error.
    for (const [what, attempt] of Object.entries({
      bytes: (on) => on.instantiate(new Uint8Array(8)),
      "the imports of bytes": (on) => on.instantiate(bytes, { env: {} }),
      "the imports of a stream": (on) => on.instantiateStreaming(fetch(guest), { env: {} }),
      "a script": (on) => on.compileStreaming(fetch("/polyfill.js"), {}),
      "a Response that is used up": async (on) => {
        const response = await fetch(guest);
        await response.arrayBuffer();
        return on.compileStreaming(response);
      },
      nothing: (on) => on.instantiate(),
      "no Response": (on) => on.instantiateStreaming("guest.wasm"),
    })) {
      equal(
        (await rejection(attempt(WebAssembly))).constructor,
        (await rejection(attempt(platform))).constructor,
        `the error for ${what}`,
      );
    }
    check(
      thrown(() => new WebAssembly.Module(new Uint8Array(8))) instanceof WebAssembly.CompileError,
      "new Module refuses invalid bytes",
    );

    // A program of a toolchain without JSPI.
    const go = new Go();
    const program = await WebAssembly.instantiateStreaming(fetch("/dist/demo/go-fetch.wasm"), go.importObject);
    const ended = go.run(program.instance);
    const ofGo = await goFetch.item(`${location.origin}/item?id=2`);
    goFetch.stop();
    await ended;

    const names = Object.keys(ways);
    return {
      ways: await Promise.all(names.map((way, id) => item(way, bytes, id))),
      go: ofGo,
      waves: await raw.twoWaves("c-fetch"),
    };
  },
};
