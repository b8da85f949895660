// The Go program of examples/go-fetch, and the guests in C and WAT in the same scenario. The server holds the items
// until it is told to release them.
import { check, equal, rejection } from "./check.js";
import { host } from "./guests.js";
import { log } from "./scene.js";

const held = (id) => `${location.origin}/hold?id=${id}`;
const release = (id) => fetch(`/release?id=${id}`, { method: "POST" });

// Runs the Go program; returns its exports and a Promise of its end. `failures` collects the errors of the page's
// fetch.
const failures = [];
const program = (async () => {
  const platform = globalThis.fetch;
  globalThis.fetch = (...args) => {
    const response = platform(...args);
    response.catch((reason) => {
      failures.push(reason);
    });
    return response;
  };
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch("/dist/demo/go-fetch.wasm"), go.importObject);
  const ended = go.run(instance);
  return { item: goFetch.item, log: goFetch.log, startLog: goFetch.log, stop: goFetch.stop, ended };
})();

async function guest(name) {
  const { imports, attach } = host(fiberfill.suspending, () => fiberfill.current().signal);
  const { instance, exports } = await fiberfill.instantiateStreaming(fetch(`/examples/${name}/guest.wasm`), imports);
  attach(instance);
  return { item: exports.item, log, startLog: fiberfill.startLog };
}

let player; // the program or guest of the scenario
let calls; // its calls, by the id of the item
let settled; // ids in the order in which the calls resolved

globalThis.gofetch = {
  // Makes three calls at once, for the items 0, 1 and 2.
  async ask(name) {
    player = await (name === "go-fetch" ? program : guest(name));
    player.startLog();
    settled = [];
    calls = [0, 1, 2].map((id) => player.item(held(id)));
    calls.forEach((call, id) =>
      call.then(
        () => {
          settled.push(id);
        },
        () => {},
      ),
    );
  },
  // Resolves with the value of a call once its item is released.
  async answer(id) {
    await release(id);
    return calls[id];
  },
  told: () => ({ settled, log: player.log() }),

  async thousand() {
    const { item } = await program;
    return Promise.all(Array.from({ length: 1000 }, (_, id) => item(`/item?id=${id}&ms=20`)));
  },

  // Calls from callbacks of all kinds while the calls of `ask` wait. Returns the values of the items 10, 11, ...
  async fromCallbacks() {
    const { item } = player;
    const call = (id) => item(`/item?id=${id}`);
    const called = (install) => new Promise((resolve, reject) => install((id) => call(id).then(resolve, reject)));
    const values = [
      await called((back) => setTimeout(back, 0, 10)),
      await fetch("/item?id=0").then(() => call(11)),
      await call(0).then(() => call(12)),
      await Promise.resolve().then(() => call(13)),
      await called((back) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => {
          port1.close();
          back(data);
        };
        port2.postMessage(14);
      }),
      await called((back) => {
        const target = new EventTarget();
        target.addEventListener("click", () => back(15));
        target.dispatchEvent(new Event("click"));
      }),
      await called((back) => requestAnimationFrame(() => back(16))),
    ];
    equal(settled, [], "calls that resolved although their items are held");
    return values;
  },

  // Makes a call without a response, beside those of `ask`; then its signal is aborted.
  never() {
    gofetch.controller = new AbortController();
    gofetch.call = player.item("/never", gofetch.controller.signal);
  },
  async abort() {
    const reason = { no: "longer wanted" };
    gofetch.controller.abort(reason);
    equal(await rejection(gofetch.call), reason, "the reason of the call");
    equal(
      await rejection(player.item("/never", AbortSignal.abort(reason))),
      reason,
      "the reason of a call whose signal was aborted before",
    );
  },

  // Calls that fail beside those of `ask`, and their errors.
  async failing() {
    const status = await rejection(player.item("/item?id=4&fail=100"));
    check(
      status instanceof Error && status.message.includes("/item?id=4") && status.message.includes("500"),
      `"${status}" names the address and the status`,
    );

    failures.length = 0;
    const refused = await rejection(player.item("http://127.0.0.1:1/")); // a port that browsers refuse
    check(refused instanceof TypeError, `${refused} is the platform's error`);
    equal([refused], failures, "the reasons that fetch rejected with");

    const cut = await rejection(player.item("/cut?id=4"));
    check(cut instanceof TypeError, `"${cut}", of a response that ends in the middle, is the platform's error`);
    equal(settled, []);
  },

  async stop() {
    player.stop();
    for (const call of calls)
      check((await rejection(call)) instanceof Error, "a call that is stopped rejects with an Error");
    await player.ended;
  },
};
