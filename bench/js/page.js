// The page of one job. Chromium is told the job by the debugger, step by step, so that several pages can take turns; a
// browser without one gets it in the address, and the page posts what it has measured to /report, and before that its
// progress.

import { run } from "./workloads.js";

function bench(job, mayGoOn) {
  // Without it the clock is coarser than what is measured.
  if (!crossOriginIsolated) throw new Error("the page is not cross-origin isolated");
  return run(job, mayGoOn);
}

let goOn; // for a job that waits to
let step; // the one that is under way

/**
 * Begins the job, or goes on with it to its next sample: resolves with null there, and in the end with what was
 * measured.
 */
globalThis.step = (job) => {
  step = Promise.withResolvers();
  if (goOn) goOn();
  else {
    bench(job, () => {
      step.resolve(null);
      return new Promise((resolve) => (goOn = resolve));
    }).then(
      (measured) => step.resolve(measured),
      (error) => step.reject(error),
    );
  }
  return step.promise;
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
    .then(() => bench(JSON.parse(job)))
    .then(
      (measured) => report({ measured }),
      (error) => report({ error: `${error}\n${error?.stack ?? ""}` }),
    );
}
