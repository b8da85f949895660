import { load } from "./sqlite.mjs";

const form = document.querySelector("form");
const output = document.querySelector("output");
const table = document.querySelector("table");

const wasm = await (
  await fetch(new URL("../../node_modules/sql.js/dist/sql-wasm-browser-debug.wasm", import.meta.url))
).arrayBuffer();
const sqlite = await load(fiberfill, initSqlJs, wasm);
const db = await sqlite.open(new URL("items.sqlite", import.meta.url).href);

function show(rows) {
  const line = (cell, values) => {
    const row = document.createElement("tr");
    for (const value of values) row.append(Object.assign(document.createElement(cell), { textContent: value }));
    return row;
  };
  table.replaceChildren(
    ...(rows.length > 0 ? [line("th", Object.keys(rows[0]))] : []),
    ...rows.map((row) => line("td", Object.values(row))),
  );
}

async function run() {
  try {
    const before = db.traffic;
    show(await db.query(form.querySelector("textarea").value));
    const { size, requests, received } = db.traffic;
    const bytes = received - before.received;
    output.value = `${requests - before.requests} requests brought ${bytes} of the file's ${size} bytes`;
  } catch (error) {
    table.replaceChildren();
    output.value = error.cause ? `${error.message}: ${error.cause.message}` : error.message;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
await run();
