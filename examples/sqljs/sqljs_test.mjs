// SQLite, unchanged from npm, on a database behind a real HTTP server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import binaryen from "binaryen";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { load } from "./sqlite.mjs";

const require = createRequire(import.meta.url);
const wasm = await readFile(require.resolve("sql.js/dist/sql-wasm-debug.wasm"));
const file = await readFile(new URL("items.sqlite", import.meta.url));
const value = (id) => Number((BigInt(id) * 2654435761n + 12345n) % 1000003n);

/** Runs the script of sql.js anew, because one run makes only one instance. */
function freshGlue() {
  const path = require.resolve("sql.js/dist/sql-wasm-debug.js");
  delete require.cache[path];
  return require(path);
}

// --- the server: the file with ranges, and the items for the C guest

let address, server, traffic, beforeRange, answerRange;

const send = (response, from, to) => {
  traffic.bytes += to - from;
  response.writeHead(206, { "content-range": `bytes ${from}-${to - 1}/${file.length}` }).end(file.subarray(from, to));
};

before(async () => {
  server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://host");
    if (url.pathname === "/item") {
      const id = Number(url.searchParams.get("id"));
      return response.end(JSON.stringify({ id, value: value(id), title: `Item ${id}` }));
    }
    if (request.method === "HEAD") return response.writeHead(200, { "content-length": file.length }).end();
    traffic.requests++;
    const [from, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range).slice(1).map(Number);
    await beforeRange(from);
    answerRange(response, from, last + 1);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  address = `http://127.0.0.1:${server.address().port}`;
});

after(() => {
  server.close();
  server.closeAllConnections();
});

beforeEach(() => {
  traffic = { requests: 0, bytes: 0 };
  beforeRange = async () => {};
  answerRange = send;
});

/** The function item of the C guest in examples/c-fetch. */
async function cGuest() {
  const bytes = (at, length) => new Uint8Array(instance.exports.memory.buffer, at, length);
  const { instance, exports } = await fiberfill.instantiate(
    await readFile(new URL("../c-fetch/guest.wasm", import.meta.url)),
    {
      env: {
        fetch_text: fiberfill.suspending(async (url, length, buffer, capacity) => {
          const response = await fetch(new TextDecoder().decode(bytes(url, length)));
          const body = new Uint8Array(await response.arrayBuffer());
          bytes(buffer, capacity).set(body.subarray(0, capacity));
          return body.length;
        }),
        log() {},
      },
    },
  );
  return (id) => exports.item(`${address}/item?id=${id}`);
}

// --- SQLite, with stacks from its own malloc, and with one stack that all fibers share

/** The same module without its export malloc, and with code that might grow its memory. */
function hideMalloc(bytes) {
  const module = binaryen.readBinary(bytes);
  module.addFunctionExport(binaryen.getExportInfo(module.getExport("malloc")).value, "hidden");
  module.removeExport("malloc");
  module.addFunction("grow", binaryen.none, binaryen.none, [], module.drop(module.memory.grow(module.i32.const(1))));
  const hidden = module.emitBinary();
  module.dispose();
  return hidden;
}

const hidden = hideMalloc(wasm);
const withoutMalloc = {
  ...fiberfill,
  async instantiate(_, imports) {
    const { instance, exports } = await fiberfill.instantiate(hidden, imports);
    return { exports, instance: { exports: { ...instance.exports, malloc: instance.exports.hidden } } };
  },
};

for (const [how, runtime] of [
  ["stacks from malloc", fiberfill],
  ["one stack for all fibers", withoutMalloc],
]) {
  const open = async () => (await load(runtime, freshGlue(), wasm)).open(`${address}/items.sqlite`);

  test(`${how}: a lookup fetches a small part of the file`, async () => {
    const db = await open();
    const rows = await db.query("SELECT id, value, title FROM items WHERE value = ?", value(1234));
    assert.deepEqual(rows, [{ id: 1234, value: value(1234), title: "Item 1234" }]);
    assert.ok(traffic.bytes < file.length / 8, `${traffic.bytes} of ${file.length} bytes served`);
    assert.deepEqual(db.traffic, { size: file.length, requests: traffic.requests, received: traffic.bytes });
    assert.deepEqual(await db.query("SELECT id FROM items WHERE title = ?", "no such item"), []);
    await db.close();
  });

  test(`${how}: other fibers run while a query waits`, async () => {
    const [db, item] = [await open(), await cGuest()];
    // The server responds to SQLite only after the C guest has its responses.
    const asked = Promise.withResolvers();
    const others = Promise.withResolvers();
    beforeRange = () => {
      asked.resolve();
      return others.promise;
    };
    const query = db.query("SELECT title FROM items WHERE id = 77");
    await asked.promise;
    assert.deepEqual(
      fiberfill.fibers().map((fiber) => [fiber.state, fiber.waitsFor]),
      [["waiting", "wasi_snapshot_preview1.fd_read"]],
    );
    assert.deepEqual(await Promise.all([1, 2, 3].map(item)), [1, 2, 3].map(value));
    others.resolve();
    assert.deepEqual(await query, [{ title: "Item 77" }]);
  });

  test(`${how}: queries made at once run one after another`, async () => {
    const db = await open();
    const ids = [0, 1999, 500, 1500, 1000];
    const [all, ...rows] = await Promise.all([
      db.query("SELECT count(*) AS n, sum(value) AS sum FROM items"),
      ...ids.map((id) => db.query("SELECT value FROM items WHERE id = ?", id)),
    ]);
    const sum = Array.from({ length: 2000 }, (_, id) => value(id)).reduce((a, b) => a + b);
    assert.deepEqual(all, [{ n: 2000, sum }]);
    assert.deepEqual(
      rows,
      ids.map((id) => [{ value: value(id) }]),
    );
  });

  for (const [failure, answer, cause] of [
    ["HTTP 500", (response) => response.writeHead(500).end(), /HTTP 500/],
    ["a server that knows no ranges", (response) => response.writeHead(200).end(file), /HTTP 200 instead of bytes/],
    [
      "a cut connection",
      (response) =>
        response.writeHead(206, { "content-length": 1024 }).write(file.subarray(0, 100), () => response.destroy()),
      /terminated|aborted|reset/,
    ],
  ]) {
    test(`${how}: ${failure} is an I/O error of that query only`, async () => {
      const [db, item] = [await open(), await cGuest()];
      answerRange = answer;
      const [failed, ...items] = await Promise.allSettled([
        db.query("SELECT * FROM items WHERE id = 3"),
        item(1),
        item(2),
      ]);
      assert.match(failed.reason.message, /disk I\/O error/);
      assert.match(String(failed.reason.cause), cause);
      assert.deepEqual(
        items.map((one) => one.value),
        [value(1), value(2)],
      );
      answerRange = send;
      assert.deepEqual(await db.query("SELECT value FROM items WHERE id = 3"), [{ value: value(3) }]);
      assert.deepEqual(fiberfill.fibers(), []);
    });
  }

  test(`${how}: the glue handles files that are not remote`, async () => {
    const db = await open();
    await db.query("ATTACH '/local' AS local");
    await db.query("CREATE TABLE local.best AS SELECT id, value FROM items ORDER BY value DESC LIMIT 3");
    await db.query("DETACH local"); // and with it SQLite's cached pages
    await db.query("ATTACH '/local' AS local");
    const { requests } = traffic;
    const rows = await db.query("SELECT value FROM local.best ORDER BY value");
    assert.deepEqual(
      rows.map((row) => row.value),
      Array.from({ length: 2000 }, (_, id) => value(id))
        .sort((a, b) => a - b)
        .slice(-3),
    );
    assert.equal(traffic.requests, requests);
  });

  test(`${how}: nothing can be written to the server's file`, async () => {
    const db = await open();
    await assert.rejects(db.query("DELETE FROM items"), /readonly database/);
    await assert.rejects(db.query("SELECT nonsense"), /no such column/);
    assert.deepEqual(await db.query("SELECT count(*) AS n FROM items"), [{ n: 2000 }]);
  });
}

test("a URL that is no database", async () => {
  const sqlite = await load(fiberfill, freshGlue(), wasm);
  await assert.rejects(sqlite.open(`http://127.0.0.1:1/`), TypeError);
  answerRange = (response, from, to) => response.writeHead(206).end(new Uint8Array(to - from).fill(65));
  const db = await sqlite.open(`${address}/text`);
  await assert.rejects(db.query("SELECT 1 FROM sqlite_schema"), /not a database/);
});

test("make-db.mjs writes the file that is committed", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fiberfill-sqljs-"));
  t.after(() => rm(folder, { recursive: true }));
  const copy = join(folder, "items.sqlite");
  await promisify(execFile)(process.execPath, [fileURLToPath(new URL("make-db.mjs", import.meta.url)), copy]);
  assert.ok(file.equals(await readFile(copy)));
});

test("main.mjs prints the rows and the traffic", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    fileURLToPath(new URL("main.mjs", import.meta.url)),
    "SELECT title FROM items WHERE id = 5",
  ]);
  assert.match(stdout, /'Item 5'/);
  assert.match(stdout, /size: 67584, requests: \d, received: \d{4} /);
});
