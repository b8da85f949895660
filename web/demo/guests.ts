// The guests to choose from: how a call is started, and how the states of its fiber are known.

import type { Fiber } from "../src/index.js";
import "./page.js";
import { CANCELLED, DONE, FAILED, WAITING, stateNames } from "./recording.js";

/** One call, under way or ended. */
export interface Call {
  readonly result: Promise<number>;
  cancel(): void;
}

/** A loaded program, which can be called any number of times. */
export interface Guest {
  /** Starts fiber number `lane`, which fetches `url` and returns the value that it finds there. */
  start(lane: number, url: string): Call;
  /**
   * Calls `note` at each change of state of the fibers that are started from now on. Returns a function that stops
   * this.
   */
  observe(note: Note): () => void;
  /** How many requests were answered; one for each call that has ended, if it is not said. */
  readonly answered?: number;
}

export type Note = (lane: number, state: number, time: number) => void;

const codes = Object.fromEntries(stateNames.map((name, code) => [name, code]));

/** A C or WAT guest: fiberfill runs its fibers, and reports their states. */
async function wasmGuest(file: string): Promise<Guest> {
  const exports = await load(file);
  return {
    start(lane, url) {
      const fiber: Fiber<number> = exports.item.with({ name: `item ${lane}` })(url);
      return { result: fiber, cancel: () => fiber.cancel() };
    },
    observe(note) {
      // Ids count up, and nothing else makes fibers during a run, so the first id gives the lane of every fiber.
      let first = -1;
      return fiberfill.observe((fiber) => {
        if (first < 0) first = fiber.id;
        note(fiber.id - first, codes[fiber.state]!, fiber.since);
      });
    },
  };
}

/**
 * The Go guest. The program schedules its fibers itself. The page sees only their Promises, so each fiber counts as
 * waiting from the call to the result.
 */
async function goGuest(): Promise<Guest> {
  const { item } = await loadGo();
  let note: Note = () => {};
  return {
    start(lane, url) {
      const controller = new AbortController();
      note(lane, WAITING, performance.now());
      const result = item(url, controller.signal);
      result.then(
        () => note(lane, DONE, performance.now()),
        (error) => note(lane, error === controller.signal.reason ? CANCELLED : FAILED, performance.now()),
      );
      return { result, cancel: () => controller.abort() };
    },
    observe(observer) {
      note = observer;
      return () => (note = () => {});
    },
  };
}

const loaders: { [name: string]: () => Promise<Guest> } = {
  c: () => wasmGuest("c-fetch.wasm"),
  wat: () => wasmGuest("wat-fetch.wasm"),
  go: goGuest,
};

const loaded = new Map<string, Promise<Guest>>();

/** The guest of that name. One instance of it serves all runs. */
export function guest(name: string): Promise<Guest> {
  let promise = loaded.get(name);
  if (!promise) {
    promise = loaders[name]!();
    loaded.set(name, promise);
    promise.catch(() => loaded.delete(name)); // so the next start tries again
  }
  return promise;
}
