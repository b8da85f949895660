// The same guests on raw JSPI, as its documents show it: the import is wrapped in WebAssembly.Suspending, the export in
// WebAssembly.promising. Nothing else is added, and nothing is made worse: each call has its URL at an address of its
// own, and each run an instance of its own.

import type { Call, Guest, Note } from "./guests.js";
import { valueOf } from "./items.js";
import { DONE, FAILED, WAITING } from "./recording.js";

/** What fetches: it gets the URL, and a signal to stop by. */
export type Fetcher = (url: string, signal: AbortSignal) => Promise<Uint8Array>;

// The types of TypeScript's library do not have them yet.
interface Jspi {
  Suspending: new (fn: (...args: number[]) => Promise<number>) => WebAssembly.ImportValue;
  promising(fn: unknown): (url: number, length: number) => Promise<number>;
}

/**
 * How many calls of raw JSPI this page makes in all, because an engine may not give their stacks back: half of what
 * ended Chromium's tab in the benchmark.
 */
export const CALLS = 60_000;
/** How many of them may wait at once: half of what ended Chromium's tab. */
export const AT_ONCE = 10_000;
let made = 0;

export const hasJspi = (): boolean => "promising" in WebAssembly && "Suspending" in WebAssembly;

/** Returns how many calls the page may still make. */
export const left = (): number => CALLS - made;

const URL_ROOM = 128;

/** Instantiates a guest for `calls` calls. */
export async function rawGuest(file: string, calls: number, fetcher: Fetcher): Promise<Guest> {
  const { Suspending, promising } = WebAssembly as unknown as Jspi;
  const controller = new AbortController(); // raw JSPI cannot cancel a call; the page can stop the requests of all
  let answered = 0;
  const bytes = (at: number, length: number) => new Uint8Array(memory.buffer, at, length);
  const fetch_text = new Suspending(async (url, length, buffer, capacity) => {
    const text = new TextDecoder().decode(bytes(url!, length!));
    const body = await fetcher(text, controller.signal).finally(() => answered++);
    bytes(buffer!, capacity!).set(body.subarray(0, capacity));
    return body.length;
  });
  const imports = { env: { fetch_text, log() {} }, fiberfill: { yield() {} } };
  const { instance } = await WebAssembly.instantiateStreaming(fetch(file), imports);
  const memory = instance.exports["memory"] as WebAssembly.Memory;
  const item = promising(instance.exports["item"]);
  const urls = memory.grow(Math.ceil((calls * URL_ROOM) / 65536)) * 65536;
  const encoder = new TextEncoder();
  let note: Note = () => {};
  return {
    get answered() {
      return answered;
    },
    start(lane, url): Call {
      made++;
      const at = urls + lane * URL_ROOM;
      const { written } = encoder.encodeInto(url, bytes(at, URL_ROOM));
      note(lane, WAITING, performance.now());
      const result = item(at, written);
      result.then(
        (value) => note(lane, value === valueOf(lane) ? DONE : FAILED, performance.now()),
        () => note(lane, FAILED, performance.now()),
      );
      return { result, cancel: () => controller.abort() };
    },
    observe(observer) {
      note = observer;
      return () => (note = () => {});
    },
  };
}

/** Fetches from the network. */
export async function network(url: string, signal: AbortSignal): Promise<Uint8Array> {
  const response = await fetch(url, { signal });
  const body = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return body;
}
