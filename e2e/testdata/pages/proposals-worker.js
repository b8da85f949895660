// A classic worker. It loads the script by importScripts, from another folder.
importScripts("/dist/fiberfill.js", "proposals-run.js");
proposalsRun(fiberfill).then(
  (results) => postMessage({ results }),
  (error) => postMessage({ error: String(error) }),
);
