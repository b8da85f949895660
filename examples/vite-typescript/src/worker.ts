// The worker, in which the guest runs: the page stays free whatever the guest computes.

import { all, type Arena } from "fiberfill";
import { load } from "./guest";
import type { Answer, Order } from "./messages";

const guest = load();
let running: Arena<number[]> | undefined;

const say = (answer: Answer) => postMessage(answer);

async function items({ base, count }: { base: string; count: number }): Promise<void> {
  const { exports } = await guest;
  // No fiber outlives the arena that `all` makes: if one fails, or the page cancels, all of them end.
  running = all(Array.from({ length: count }, (_, id) => exports.item(new URL(`item?id=${id}`, base).href)));
  say({ kind: "values", values: await running });
}

addEventListener("message", ({ data }: MessageEvent<Order>) => {
  if (data.kind === "cancel") running?.cancel("cancelled by the page");
  else items(data).catch((error) => say({ kind: "failed", reason: String(error) }));
});
