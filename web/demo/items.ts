// Where the items come from. A server that has /item answers with the latency and the failures that the page asks for.
// On a server of plain files, the service worker of answers.js answers in its place.

/** The folder of the item's address, with a slash at the end, and who answers there. */
export interface Source {
  folder: string;
  server: boolean;
}

let found: Promise<Source> | undefined;

/** Finds out who answers. Rejects if nobody does; the next call tries again. */
export function source(): Promise<Source> {
  found ??= find().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function find(): Promise<Source> {
  const file = await fetch("icon.svg", { method: "HEAD" });
  if (file.headers.get("Server") === "fiberfill") return { folder: "/", server: true };
  const workers = navigator.serviceWorker;
  if (!workers)
    throw new Error("This server has only files, and the browser allows the page no service worker to answer instead.");
  await workers.register("answers.js");
  const { active } = await workers.ready;
  if (!workers.controller) {
    const controlled = new Promise((resolve) => workers.addEventListener("controllerchange", resolve, { once: true }));
    active!.postMessage("claim"); // a page that was reloaded without the cache is not controlled by itself
    await controlled;
  }
  return { folder: new URL("./", location.href).pathname, server: false };
}

/** The rule for the value of an item. It is exact, because the product stays below 2 to the power of 53. */
export function valueOf(id: number): number {
  return (id * 2654435761 + 12345) % 1000003;
}
