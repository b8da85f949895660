// The page: it orders, and shows what comes.

import type { Answer, Order } from "./messages";

const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
const status = document.querySelector("[role=status]")!;
const order = (order: Order) => worker.postMessage(order);

worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => {
  status.textContent =
    data.kind === "values"
      ? `${data.values.length} fibers, sum ${data.values.reduce((a, b) => a + b, 0)}`
      : `failed: ${data.reason}`;
});

document.querySelector("#start")!.addEventListener("click", () => {
  status.textContent = "";
  order({ kind: "items", base: document.baseURI, count: 1000 });
});
document.querySelector("#cancel")!.addEventListener("click", () => order({ kind: "cancel" }));
