// How long it goes on: the C guest, in waves of a thousand calls that all end, with fiberfill and on raw JSPI. The page
// answers at once, so that no network is in it. Raw JSPI stops where the page's calls are used up.

import { valueOf } from "./items.js";
import { count, data, set } from "./numbers.js";
import { element } from "./page.js";
import { hasJspi, left, rawGuest } from "./raw.js";

const WAVE = 1000;
const WAVES = 150;
const file = "c-fetch.wasm";

const button = element<HTMLButtonElement>("reach");
const status = element("reach-status");

/** Calls item number `lane` for a URL. */
type Item = (lane: number, url: string) => Promise<number>;

button.addEventListener("click", () => {
  button.disabled = true;
  both()
    .then(
      (text) => (status.textContent = text),
      (error: unknown) => (status.textContent = String(error)),
    )
    .finally(() => {
      button.disabled = false;
      button.dispatchEvent(new Event("reach-over"));
    });
});

async function both(): Promise<string> {
  status.textContent = "Running fiberfill.";
  await waves("reach", WAVES, await ours());
  if (!hasJspi()) return "This browser has no JSPI: fiberfill kept the stacks itself.";
  const allowed = Math.floor(left() / WAVE);
  status.textContent = "Running raw JSPI.";
  if (allowed > 0) {
    const guest = await rawGuest(file, WAVE, answer);
    await waves("reach-raw", allowed, (lane, url) => guest.start(lane, url).result);
  }
  return allowed > 0
    ? "Raw JSPI was stopped here, before the tab is in danger. Reload the page to run it again."
    : "The page has made as many calls of raw JSPI as it dares. Reload it to run them again.";
}

/** The guest with fiberfill. */
async function ours(): Promise<Item> {
  const memory = () => (instance.exports["memory"] as WebAssembly.Memory).buffer;
  const fetch_text = fiberfill.suspending(
    (url: number, length: number) => answer(new TextDecoder().decode(new Uint8Array(memory(), url, length))),
    (body: Uint8Array, _url: number, _length: number, buffer: number, capacity: number) => {
      new Uint8Array(memory(), buffer, capacity).set(body.subarray(0, capacity));
      return body.length;
    },
  );
  const imports = { env: { fetch_text, log() {} } };
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch(file), imports);
  return (_lane, url) => exports["item"]!(url) as Promise<number>;
}

/** Runs waves and shows how far they are. Each ends before the next begins. */
async function waves(id: string, number: number, item: Item): Promise<void> {
  const [ended, rightly] = [data(`${id}-ended`), data(`${id}-right`)];
  const meter = element<HTMLProgressElement>(`${id}-meter`);
  let [done, right] = [0, 0];
  for (let wave = 0; wave < number; wave++) {
    const calls = Array.from({ length: WAVE }, (_, lane) => item(lane, `item?id=${lane}`));
    for (const [lane, end] of (await Promise.allSettled(calls)).entries()) {
      done++;
      if (end.status === "fulfilled" && end.value === valueOf(lane)) right++;
    }
    set(ended, done);
    set(rightly, right, `${count(right)} of ${count(done)}`);
    meter.value = done;
  }
}

let turn: Promise<void> | undefined;

/** Answers in the next task, so that all calls of a wave wait at once. */
async function answer(url: string): Promise<Uint8Array> {
  turn ??= new Promise<void>((resolve) => setTimeout(resolve)).finally(() => (turn = undefined));
  await turn;
  const id = Number(new URLSearchParams(url.slice(url.indexOf("?"))).get("id"));
  return new TextEncoder().encode(JSON.stringify({ id, value: valueOf(id) }));
}
