// The scenarios of the proposals, played by guests in C and WAT (examples/c-scenarios) on JSPI. What is expected is
// what a server is held to: internal/guest/scenarios_test.go.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { play } from "../../examples/c-scenarios/play.mjs";
import * as fiberfill from "../../web/dist/npm/esm/index.js";

const file = (name) => readFileSync(new URL(`../../examples/c-scenarios/${name}`, import.meta.url));
const { events, scenarios } = JSON.parse(file("scenarios.json"));

// As many stacks as the largest of them needs: one that did not come back would be missed by a later one.
fiberfill.limits({ soft: 8, hard: 8 });

describe("jspi", () => {
  for (const scenario of scenarios) {
    test(`jspi/${scenario.name}`, async () => {
      const { guest } = scenario;
      assert.deepEqual(await play(fiberfill, file(`${guest}.wasm`), scenario, events[guest]), scenario);
    });
  }
});
