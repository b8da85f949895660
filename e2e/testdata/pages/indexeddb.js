// A fiber reads everything in one transaction, although it computes in between for longer than a turn may take.
import { instantiateStreaming, suspending } from "/dist/npm/esm/index.js";
import { equal } from "./check.js";

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

globalThis.indexeddb = {
  async run() {
    const opening = indexedDB.open("fiberfill");
    opening.onupgradeneeded = () => opening.result.createObjectStore("numbers").put(1, "one");
    const database = await done(opening);
    let numbers;
    const read = suspending(() => {
      numbers ??= database.transaction("numbers").objectStore("numbers");
      const end = performance.now() + 12;
      while (performance.now() < end);
      return done(numbers.get("one")); // throws if the event of the last read is over
    });
    const env = { direct() {} };
    for (const name of ["wait", "wait_i64", "wait_f32", "wait_f64", "wait_ref", "wait_all"]) env[name] = read;
    const { exports } = await instantiateStreaming(fetch("/wat/rules.wasm"), { env });
    equal(await exports.waits(0, 20), 20, "reads of a fiber in one transaction");
    database.close();
  },
};
