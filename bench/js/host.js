// The difference between a page and Node: how to read a file of this folder.

const inNode = typeof document === "undefined";

/** The bytes of a file of this folder. */
export async function bytes(name) {
  const url = new URL(name, import.meta.url);
  if (inNode) return (await import("node:fs/promises")).readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${name}: status ${response.status}`);
  return response.arrayBuffer();
}

/** Runs a file of this folder as a classic script, as a script tag does. */
export async function script(name) {
  if (inNode) {
    const vm = await import("node:vm");
    // Look for the script's imports beside it.
    const options = {
      filename: new URL(name, import.meta.url).href,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    };
    vm.runInThisContext((await bytes(name)).toString(), options);
    return;
  }
  await new Promise((resolve, reject) => {
    const tag = document.createElement("script");
    tag.src = new URL(name, import.meta.url);
    tag.onload = resolve;
    tag.onerror = () => reject(new Error(`${name} does not load`));
    document.head.append(tag);
  });
}

/** Calls fn after the event loop has had control. */
export const later = (() => {
  if (inNode) return setImmediate;
  const { port1, port2 } = new MessageChannel();
  const due = [];
  port1.onmessage = () => due.shift()();
  return (fn) => {
    due.push(fn);
    port2.postMessage(0);
  };
})();
