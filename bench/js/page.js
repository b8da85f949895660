// The page of one job. In Chromium the debugger passes the job, step by step, so that several pages can take turns.
// Another browser gets the job in the address, and the page posts its progress and then its measurements to /report.

import { run } from "./workloads.js";

function bench(job, mayGoOn) {
  // Otherwise the clock is too coarse.
  if (!crossOriginIsolated) throw new Error("the page is not cross-origin isolated");
  return run(job, mayGoOn);
}

let goOn; // resumes a job that waits
let step; // the step under way

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
