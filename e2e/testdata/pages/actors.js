// Actors in a page: the scenarios that Go plays on wazero, and the test that the demo page shows.

import * as actors from "/dist/fiberfill-actors.js";
import { play, scenarios } from "/jsglue/test/actors_player.mjs";
import { sleepTest } from "/demo/sleep.js";

const bytes = async (path) => (await fetch(path)).arrayBuffer();

globalThis.actors = {
  /** Every scenario of the file: its title, the expected and the actual events. */
  async scenarios() {
    const guest = await actors.compileActor(await bytes("/examples/c-actor/guest.wasm"));
    const text = await (await fetch("/examples/c-actor/scenarios.txt")).text();
    const outcomes = [];
    for (const { title, script } of scenarios(text)) {
      outcomes.push({ title, want: script, got: await play(actors, guest, script).catch((error) => String(error)) });
    }
    return outcomes;
  },
  /** The sleep test, by both clocks. */
  async sleep() {
    const guest = await bytes("/examples/c-actor/guest.wasm");
    return [
      await sleepTest(actors, guest),
      await sleepTest(actors, guest, { clock: "virtual", stack: 131072 }),
      await sleepTest(actors, guest, { stack: 0 }),
    ];
  },
};
