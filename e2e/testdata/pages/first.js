// Measures the milliseconds from the script having loaded and run until the first fiber runs. In between the core is
// compiled, the guest is parsed, its stubs are made, it is instantiated, and a call of an export reaches its first
// import.
//
// A debugger slows compilation down by half, and the test drives this page with one. So the page opens another page, in
// a process without a debugger, which measures once and reports.
const channel = new BroadcastChannel("first");

if (location.hash) {
  measure()
    .then(
      (result) => channel.postMessage({ id: location.hash, result }),
      (error) => channel.postMessage({ id: location.hash, error: String(error) }),
    )
    .finally(close);
}

let opened = 0;
globalThis.first = {
  run() {
    const id = `#${++opened}`;
    const { promise, resolve, reject } = Promise.withResolvers();
    channel.onmessage = ({ data }) => {
      if (data.id === id) data.error ? reject(new Error(data.error)) : resolve(data.result);
    };
    const link = document.createElement("a");
    Object.assign(link, { href: `first.html${id}`, target: "_blank", rel: "noopener" });
    link.click();
    return promise;
  },
};

async function measure() {
  const guest = await (await fetch("/examples/c-fetch/guest.wasm")).arrayBuffer();
  if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve));
  await new Promise((resolve) => requestIdleCallback(resolve));
  const script = document.createElement("script");
  script.src = "/dist/fiberfill.js";
  const loaded = new Promise((resolve) => {
    script.onload = () => resolve(performance.now());
  });
  document.head.append(script);
  const there = await loaded;
  const running = Promise.withResolvers();
  const env = {
    fetch_text: fiberfill.suspending(async () => {
      running.resolve(performance.now());
      return 0;
    }),
    log() {},
  };
  const { exports } = await fiberfill.instantiate(guest, { env });
  exports.item("/?id=1");
  const ms = (await running.promise) - there;
  const [{ responseEnd }] = performance.getEntriesByName(script.src);
  return { ms, script: there - responseEnd, raw: await roundTrip() };
}

/** The cost of a raw JSPI round trip in this process, in ns: the speed of the machine now. */
async function roundTrip() {
  const bytes = await (await fetch("/bench/guest.wasm")).arrayBuffer();
  let wake;
  const yieldNow = () => {
    const parked = new Promise((resolve) => {
      wake = resolve;
    });
    wake();
    return parked;
  };
  const { instance } = await WebAssembly.instantiate(bytes, {
    fiberfill: { yield: new WebAssembly.Suspending(yieldNow) },
    env: { wait() {} },
  });
  const turns = WebAssembly.promising(instance.exports.turns);
  let best = Infinity;
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    await turns(50_000);
    best = Math.min(best, ((performance.now() - began) * 1e6) / 50_000);
  }
  return best;
}
