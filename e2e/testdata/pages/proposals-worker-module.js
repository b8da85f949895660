// A module worker, with the npm package.
import * as fiberfill from "/dist/npm/esm/index.js";
import "./proposals-run.js";
proposalsRun(fiberfill).then(
  (results) => postMessage({ results }),
  (error) => postMessage({ error: String(error) }),
);
