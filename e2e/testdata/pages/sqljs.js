import { load } from "/examples/sqljs/sqlite.mjs";
import { host } from "./guests.js";

async function cGuest() {
  const { imports, attach } = host(fiberfill.suspending);
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch("/examples/c-fetch/guest.wasm"), imports);
  attach(instance);
  return exports;
}

globalThis.sqljs = {
  // A query, and five fibers of the C guest that do all their work while it waits. The server's responses to SQLite are
  // held back until they are done.
  async run() {
    const bytes = await (await fetch("/node_modules/sql.js/dist/sql-wasm-browser-debug.wasm")).arrayBuffer();
    const sqlite = await load(fiberfill, initSqlJs, bytes);
    const db = await sqlite.open(`${location.origin}/examples/sqljs/items.sqlite`);
    const guest = await cGuest();

    const send = fetch;
    const asked = Promise.withResolvers();
    const others = Promise.withResolvers();
    globalThis.fetch = async (url, options) => {
      if (options?.headers?.Range) {
        asked.resolve();
        await others.promise;
      }
      return send(url, options);
    };
    const query = db.query("SELECT value, title FROM items WHERE id = ?", 17);
    await asked.promise;
    const waiting = fiberfill.fibers().map((fiber) => `${fiber.state} ${fiber.waitsFor}`);
    const items = await Promise.all([0, 1, 2, 3, 4].map((id) => guest.item(`${location.origin}/item?id=${id}&ms=5`)));
    others.resolve();
    const rows = await query;
    await db.close();
    return { waiting, items, rows, traffic: db.traffic };
  },
};
