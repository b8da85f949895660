// node main.mjs [SQL]: serves items.sqlite on the loopback interface, queries it over HTTP, and prints the rows and the
// traffic.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import initSqlJs from "sql.js/dist/sql-wasm-debug.js";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { load } from "./sqlite.mjs";

const file = await readFile(new URL("items.sqlite", import.meta.url));
const server = createServer((request, response) => {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range);
  if (!range)
    return response.writeHead(200, { "content-length": file.length }).end(request.method === "HEAD" ? "" : file);
  const [from, to] = [Number(range[1]), Math.min(Number(range[2]), file.length - 1)];
  response.writeHead(206, { "content-range": `bytes ${from}-${to}/${file.length}` }).end(file.subarray(from, to + 1));
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));

const wasm = await readFile(new URL(import.meta.resolve("sql.js/dist/sql-wasm-debug.wasm")));
const sqlite = await load(fiberfill, initSqlJs, wasm);
const db = await sqlite.open(`http://127.0.0.1:${server.address().port}/items.sqlite`);
console.table(await db.query(process.argv[2] ?? "SELECT * FROM items WHERE value > 999000 ORDER BY value"));
console.log(db.traffic);
await db.close();
server.close();
server.closeIdleConnections();
