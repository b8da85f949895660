// Parts of fiberfill that are loaded when something needs them.

import { FiberError, words } from "./errors.js";

// While a script is loaded, the page says where it came from; in a worker the file is expected beside the script that
// imports it.
const here = SCRIPT_TAG ? (globalThis.document?.currentScript as HTMLScriptElement | null | undefined)?.src : undefined;

/**
 * Loads a part: what `chunk` imports, or, in the script tag, the file beside the script. If that fails, rejects with a
 * FiberError that says that `who` needs the part.
 */
export async function load<T>(file: string, chunk: (() => Promise<T>) | undefined, who: string): Promise<T> {
  let url = `./${file}`;
  try {
    if (here) url = new URL(file, here).href; // there is no such place beside a script that was made of a blob
    return await (SCRIPT_TAG ? import(url) : chunk!());
  } catch (error) {
    const beside = SCRIPT_TAG ? `. It has to lie beside fiberfill.js: ${url}` : "";
    const advice =
      "ServiceWorkerGlobalScope" in globalThis
        ? ". A service worker may load nothing on demand; a page or a Web Worker may"
        : beside;
    throw new FiberError(
      "load-failed",
      `${SCRIPT_TAG ? file : "a chunk of fiberfill"}, which ${who}, cannot be loaded${advice} (${words(error)})`,
      { cause: error },
    );
  }
}
