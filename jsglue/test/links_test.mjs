// What consoles show of fiberfill's errors links to the entry of docs/errors.md that has the remedy.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inspect } from "node:util";
import { ActorError } from "../../web/dist/npm/esm/actors.js";
import { FiberError } from "../../web/dist/npm/esm/index.js";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const classes = [
  { Class: FiberError, source: "jsglue/src/errors.ts", prefix: "" },
  { Class: ActorError, source: "jsglue/src/actors/errors.ts", prefix: "actors: " },
];

for (const { Class, source, prefix } of classes) {
  test(`each code of ${Class.name} has an entry, and consoles show a link to it`, () => {
    const entries = new Set(Array.from(read("docs/errors.md").matchAll(/^### (.+)$/gm), ([, heading]) => heading));
    const [, union] = /ErrorCode =\n([^]*?);/.exec(read(source));
    const codes = Array.from(union.matchAll(/^ {2}\| "(.+?)"/gm), ([, code]) => code);
    assert.ok(codes.length > 10);
    for (const code of codes) {
      assert.ok(entries.has(prefix + code), code);
      const anchor = (prefix + code).replace(": ", "-"); // as GitHub makes it
      const link = `https://github.com/fiberfill/fiberfill/blob/main/docs/errors.md#${anchor}`;
      const error = new Class(code, "what is wrong");
      assert.equal(error.help, link);
      assert.ok(inspect(error).includes(link));
    }
  });
}
