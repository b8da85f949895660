// The scenarios of the proposals, played by guests in C and WAT (examples/c-scenarios) on JSPI. The expectations are
// the server's: guest/scenarios_test.go.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { play } from "../../examples/c-scenarios/play.mjs";
import * as fiberfill from "../../web/dist/npm/esm/index.js";
import { instantiate, plainly } from "./proposals_guest.mjs";

const file = (name) => readFileSync(new URL(`../../examples/c-scenarios/${name}`, import.meta.url));
const { events, scenarios } = JSON.parse(file("scenarios.json"));

// As many stacks as the largest scenario needs: if one were not given back, a later scenario would lack it.
fiberfill.limits({ soft: 8, hard: 8 });

describe("jspi", () => {
  for (const scenario of scenarios) {
    if (plainly && JSON.stringify(scenario).includes("pauses at")) continue; // it waits
    test(`jspi/${scenario.name}`, async () => {
      const { guest } = scenario;
      assert.deepEqual(
        await play({ ...fiberfill, instantiate }, file(`${guest}.wasm`), scenario, events[guest]),
        scenario,
      );
    });
  }
});
