// Plays a scenario of scenarios.json on fiberfill: in Node, and in a page.

/** An event in words: # stands for the fiber, $ for the value, & for the fiber whose number is the value. */
export function words(template, who, value, names = []) {
  const name = (n) => names[n] ?? n;
  return template.replace(/[#&$]/g, (mark) => (mark === "$" ? value : name(mark === "#" ? who : value)));
}

/**
 * Plays a scenario with a fresh instance of its guest, a module or its bytes. Returns the scenario with the actual
 * results in place of the expected ones. told, if given, is called with each event as it happens: the event in words,
 * the number of its fiber, and the number of the event, negative for a trap. If told returns a Promise, the fiber that
 * reports the event waits for it, and so does the whole scenario. Rejects only if the guest cannot be instantiated.
 */
export async function play(fiberfill, module, scenario, events, told) {
  let log = [];
  const note = (code, value) => {
    const [who, what] = [code >> 8, code & 255];
    log.push(words(events[what], who, value, scenario.names));
    const states = new Set(guest.fibers().map(({ state }) => state));
    if (log.at(-1).startsWith("pauses")) log.push(...[...states].filter((state) => state !== "suspended"));
    return told?.(log.at(-1), who, what);
  };
  const env = { log: told ? fiberfill.suspending(note) : note };
  const guest = await fiberfill.instantiate(module, { env });
  const { exports, instance } = guest;
  if ("_initialize" in exports) await exports._initialize();
  let at = await exports.inputs();
  const address = (array) => {
    const start = at;
    for (const n of array) {
      new DataView(instance.exports.memory.buffer).setInt32(at, n, true);
      at += 4;
    }
    return start;
  };
  const steps = [];
  for (const step of scenario.steps) {
    log = [];
    const seen = { call: step.call };
    if ("args" in step) seen.args = step.args;
    try {
      const result = await exports[step.call](
        ...(step.args ?? []).map((arg) => (Array.isArray(arg) ? address(arg) : arg)),
      );
      if ("returns" in step || "traps" in step) seen.returns = result;
    } catch (error) {
      await told?.(`${step.call}: trap`, 0, -1);
      seen.traps =
        error.code === "trap" && "traps" in step && error.message.toLowerCase().includes(step.traps.toLowerCase())
          ? step.traps
          : String(error);
    }
    if ("log" in step) seen.log = log.join(", ");
    if ("live" in step) seen.live = guest.fibers().map(({ state }) => state);
    steps.push(seen);
  }
  const left = [...guest.fibers(), ...fiberfill.fibers()].map(({ name, state }) => `${name} is ${state}`);
  return { ...scenario, steps, ...(left.length > 0 && { left }) };
}
