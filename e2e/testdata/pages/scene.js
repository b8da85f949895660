// The guest of the rule tests (wat/rules.wat) with imports that the test controls: $wait(x) waits until the test opens
// door x. Also the scheduler's log, in words.
import { check } from "./check.js";

let guest;
const rules = () => (guest ??= fiberfill.compileStreaming(fetch("/wat/rules.wasm")));

/** Makes an instance. `overrides` replaces functions of the module env. */
export async function scene(overrides = {}) {
  const doors = new Map();
  const door = (x) =>
    doors.get(x) ?? doors.set(x, { ...Promise.withResolvers(), asked: Promise.withResolvers() }).get(x);
  const wait = (x) => {
    door(x).asked.resolve();
    return door(x).promise;
  };
  const functions = {
    wait,
    wait_i64: wait,
    wait_f32: wait,
    wait_f64: wait,
    wait_ref: wait,
    wait_all: wait,
    direct: (x) => x,
    ...overrides,
  };
  const env = Object.fromEntries(
    Object.entries(functions).map(([name, fn]) => [name, name === "direct" ? fn : fiberfill.suspending(fn)]),
  );
  const { exports, instance } = await fiberfill.instantiate(await rules(), { env });
  return {
    exports,
    instance,
    /** Ends the wait for x with a value. */
    open: (x, value = x) => door(x).resolve(value),
    /** Ends the wait for x with an exception. */
    fail: (x, reason) => door(x).reject(reason),
    /** Resolves when fibers wait for all of xs. */
    asked: (...xs) => Promise.all(xs.map((x) => door(x).asked.promise)),
  };
}

/** Resolves after a turn of the event loop, with all its microtasks. */
export const macrotask = () => new Promise((resolve) => setTimeout(resolve));

/** Resolves when some fiber has entered a state and the condition holds. */
export function when(condition) {
  if (condition()) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = fiberfill.observe(() => {
      if (!condition()) return;
      stop();
      resolve();
    });
  });
}

/**
 * Returns the scheduler's events since fiberfill.startLog, such as "resumed f1". The fibers are named f0, f1, ... in
 * the order they were spawned.
 */
export function log() {
  const places = []; // the fibers' places in the scheduler's table; a place is reused
  return fiberfill.log().map(([event, place]) => {
    if (event === "spawned") places.push(place);
    const fiber = places.lastIndexOf(place);
    return place === 0 ? event : `${event} f${fiber < 0 ? "?" : fiber}`;
  });
}

/**
 * Plays a scene and returns the log. On a busy machine the scheduler's turn, some milliseconds long, may end in the
 * middle of the scene, and the log rightly shows that. Then the scene is played again, so a scene must make everything
 * that it needs.
 */
export async function played(play) {
  for (let i = 0; i < 20; i++) {
    fiberfill.startLog();
    await play();
    const lines = log();
    if (!cut(lines)) return lines;
  }
  throw new Error("the scheduler's turn ended in the middle of the scene, twenty times");
}

/**
 * Whether a turn ended although some fiber could run: the log shows it, or the next turn begins without a reason.
 */
function cut(lines) {
  const ready = new Set();
  for (const [i, line] of lines.entries()) {
    const [event, fiber] = line.split(" ");
    if (event === "spawned" || event === "notified" || event === "yielded") ready.add(fiber);
    if (event === "resumed" || event === "finished" || event === "dropped") ready.delete(fiber);
    if (event === "paused" && (ready.size > 0 || lines[i + 1] === "entered")) return true;
  }
  return false;
}

/** Splits a string of several events, so that a log reads as a text. */
export const lines = (text) => text.trim().split(/\s*[,;\n]\s*/);

export function ended() {
  const left = fiberfill.fibers().map(({ name, state, waitsFor }) => `${name} ${state} ${waitsFor ?? ""}`);
  check(left.length === 0, `no fiber is left of ${left}`);
}
