// Plays conformance scripts; polyfill/conformance/player/player.c explains them.

// A script has at most a hundred fibers. If stacks were not given back, a later script would be refused one.
fiberfill.limits({ soft: 150, hard: 150 });

const players = {};
const player = (system) =>
  (players[system] ??= fiberfill.compileStreaming(fetch(`/player/${system.toLowerCase()}.wasm`)));

// Lets the event loop run, so that ended stacks are gone.
const pause = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

/**
 * Plays a script and returns its record, in base64. A trap is passed to the player as a number, the index of its
 * message. With `plainly`, entries are plain calls.
 */
async function play({ system, script }, traps, plainly) {
  let plain;
  const host = { call: (f, env) => plain.called(f, env) };
  const guest = await fiberfill.instantiate(await player(system), { host }, { shadowStack: { size: 16384 } });
  plain = guest.instance.exports;
  const bytes = Uint8Array.from(atob(script), (c) => c.charCodeAt(0));
  new Uint8Array(plain.memory.buffer).set(bytes, plain.script());
  let left = plain.start();
  while (left > 0) {
    try {
      left = plainly ? plain.play() : await guest.exports.play();
    } catch (error) {
      if (plainly ? !(error instanceof WebAssembly.RuntimeError) : error.code !== "trap") throw error;
      const [, words] = / refused: ([^[]*?)(?: \[|$)/.exec(error.message) ?? [];
      left = plain.trapped(words === undefined ? traps.length - 1 : traps.indexOf(words));
    }
  }
  const trace = new Uint8Array(plain.memory.buffer, plain.trace(), 40 * plain.count());
  const recorded = btoa(Array.from(trace, (byte) => String.fromCharCode(byte)).join(""));
  for (const fiber of guest.fibers()) fiber.release();
  await pause();
  const rest = [
    ...guest.fibers().map(({ name, state }) => `${name}: ${state}`),
    ...fiberfill.fibers().map(({ name, state }) => `${name}: ${state}`),
  ];
  if (rest.length > 0) throw new Error(`left behind: ${rest.join(", ")}`);
  return recorded;
}

/** Plays scripts one after another. traps are the messages of all traps; the last is the guest's own trap. */
globalThis.jspi = {
  async play(scripts, traps, plainly = false) {
    const results = [];
    for (const script of scripts) {
      results.push(
        await play(script, traps, plainly).then(
          (trace) => ({ trace }),
          (error) => ({ error: String(error) }),
        ),
      );
    }
    return results;
  },
  // The same with the scripts of /scripts/all.json, because Firefox gets no arguments.
  async all() {
    const { scripts, traps } = await (await fetch("/scripts/all.json")).json();
    return this.play(scripts, traps);
  },
};
