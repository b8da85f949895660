// The programs of the documents (examples/c-scenarios) in a page.
import { play } from "/examples/c-scenarios/play.mjs";

globalThis.scenarios = {
  /** Every scenario, with what was seen in place of what is expected. */
  async all(waits) {
    const { events, scenarios } = await (await fetch("/examples/c-scenarios/scenarios.json")).json();
    const modules = {};
    const seen = [];
    for (const scenario of scenarios) {
      const { guest } = scenario;
      modules[guest] ??= await fiberfill.compileStreaming(fetch(`/examples/c-scenarios/${guest}.wasm`));
      // When the guest tells of an event the fiber that does so waits, of all those that there are: the others stay as
      // they are.
      const told = waits ? () => Promise.resolve() : undefined;
      seen.push(await play(fiberfill, modules[guest], scenario, events[guest], told));
    }
    return seen;
  },
};
