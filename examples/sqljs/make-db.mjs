// node make-db.mjs [FILE]: writes items.sqlite. The same sql.js writes the same bytes.
import { writeFile } from "node:fs/promises";
import initSqlJs from "sql.js";

const SQL = await initSqlJs();
const db = new SQL.Database();
db.run("PRAGMA page_size = 1024; CREATE TABLE items (id INTEGER PRIMARY KEY, value INTEGER, title TEXT);");
db.run("BEGIN");
const insert = db.prepare("INSERT INTO items VALUES (?, ?, ?)");
for (let id = 0; id < 2000; id++) {
  // The values of the project's test server.
  insert.run([id, Number((BigInt(id) * 2654435761n + 12345n) % 1000003n), `Item ${id}`]);
}
insert.free();
db.run("COMMIT; CREATE INDEX by_value ON items (value); VACUUM");
await writeFile(process.argv[2] ?? new URL("items.sqlite", import.meta.url), db.export());
