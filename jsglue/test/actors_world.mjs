// What the tests of fiberfill/actors share.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as actors from "../../web/dist/npm/esm/actors.js";

export { actors };

export const file = (path) => readFileSync(new URL(path, import.meta.url));
export const guest = await actors.compileActor(file("../../examples/c-actor/guest.wasm"));

/** A runtime with a tester, which keeps the answers it gets. */
export async function world(options = {}) {
  const clock = options.clock ?? new actors.VirtualClock();
  const answers = [];
  const ended = new Map();
  const runtime = new actors.Runtime({ clock, ended: (id, error) => ended.set(id, error), ...options });
  let tester;
  const id = runtime.spawnNative(
    (host, message) => {
      tester = host;
      if (message.source !== 0) answers.push(message);
      return true;
    },
    { room: 2000 },
  );
  runtime.send(id, 0);
  await runtime.step();
  const from = (to, type, ...numbers) =>
    assert.equal(tester.send(to, type, new Uint8Array(Int32Array.from(numbers).buffer)), 0);
  const steps = async (n) => {
    for (let i = 0; i < n; i++) {
      await runtime.step();
      clock.pass(1);
    }
  };
  return {
    runtime,
    clock,
    answers,
    ended,
    from,
    steps,
    text: () => answers.map(({ payload }) => new TextDecoder().decode(payload)),
  };
}

/** Whether an error is an ActorError with this code. */
export const code = (expected) => (error) => error instanceof actors.ActorError && error.code === expected;
