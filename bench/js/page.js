// The page of one job. Chromium is told the job by the debugger; a browser without one gets it in the address, and the
// page posts what it has measured to /report, and before that its progress.

import { run } from "./workloads.js";

globalThis.bench = (job) => {
  // Without it the clock is coarser than what is measured.
  if (!crossOriginIsolated) throw new Error("the page is not cross-origin isolated");
  return run(job);
};

const job = new URLSearchParams(location.search).get("job");
if (job) {
  const report = (value) => fetch("/report", { method: "POST", body: JSON.stringify(value), keepalive: true });
  const { log } = console;
  console.log = (text) => {
    log(text);
    report({ progress: text });
  };
  Promise.resolve()
    .then(() => globalThis.bench(JSON.parse(job)))
    .then(
      (measured) => report({ measured }),
      (error) => report({ error: `${error}\n${error?.stack ?? ""}` }),
    );
}
