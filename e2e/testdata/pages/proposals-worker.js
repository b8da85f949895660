// A classic worker: it has the script tag's file by importScripts, from another folder than its own.
importScripts("/dist/fiberfill.js", "proposals-run.js");
proposalsRun(fiberfill).then(
  (results) => postMessage({ results }),
  (error) => postMessage({ error: String(error) }),
);
