// Runs programs beside the page, so that one without an end can be stopped. Binaryen is loaded with the first.

import { run } from "./run.js";

addEventListener("message", async ({ data }: MessageEvent<string>) => {
  const { default: binaryen } = await import("./binaryen.js" as "binaryen");
  postMessage(run(binaryen, data));
});
