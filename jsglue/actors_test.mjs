// fiberfill/actors: actors in wasm and in JavaScript, on JSPI. Run over web/dist/npm in Node 26.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { play, scenarios } from "./actors_player.mjs";

const before = Object.getOwnPropertyNames(globalThis);
const actors = await import("../web/dist/npm/esm/actors.js");
const { ActorError, compileActor, Runtime, VirtualClock } = actors;

const file = (path) => readFileSync(new URL(path, import.meta.url));
const guest = await compileActor(file("../examples/c-actor/guest.wasm"));

test("importing touches no global", () => assert.deepEqual(Object.getOwnPropertyNames(globalThis), before));

// The same scenarios, with the same outcome, as in Go on wazero: asyncio/actors/wasm.
const all = scenarios(file("../examples/c-actor/scenarios.txt").toString());
assert(all.length > 20);
for (const { title, script } of all) {
  test(title, async () => assert.equal(await play(actors, guest, script), script));
}
