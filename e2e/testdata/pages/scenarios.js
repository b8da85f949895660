// The programs of the documents (examples/c-scenarios) in a page.
import { play } from "/examples/c-scenarios/play.mjs";

globalThis.scenarios = {
  /** Every scenario, with the actual results in place of the expected ones. */
  async all(waits) {
    const { events, scenarios } = await (await fetch("/examples/c-scenarios/scenarios.json")).json();
    const modules = {};
    const seen = [];
    for (const scenario of scenarios) {
      const { guest } = scenario;
      modules[guest] ??= await fiberfill.compileStreaming(fetch(`/examples/c-scenarios/${guest}.wasm`));
      // When the guest reports an event, only the fiber that reports it waits; the others keep their states.
      const told = waits ? () => Promise.resolve() : undefined;
      seen.push(await play(fiberfill, modules[guest], scenario, events[guest], told));
    }
    return seen;
  },
};
