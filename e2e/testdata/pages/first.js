// How long it takes from the script being there to the first fiber running: the script is parsed and run, the core is
// compiled, the guest is instantiated from its bytes, and a call of an export reaches it. In milliseconds.
const bytes = fetch("/wat/rules.wasm").then((response) => response.arrayBuffer());
const names = ["wait", "wait_i64", "wait_f32", "wait_f64", "wait_ref", "wait_all"];

globalThis.first = {
  async run() {
    const guest = await bytes;
    const script = document.createElement("script");
    script.src = "/dist/fiberfill.js";
    const loaded = new Promise((resolve) => { script.onload = resolve; });
    document.head.append(script);
    await loaded;
    const running = Promise.withResolvers();
    const env = { direct() { running.resolve(performance.now()); return 0; } };
    for (const name of names) env[name] = fiberfill.suspending(async (x) => x);
    const { exports } = await fiberfill.instantiate(guest, { env });
    exports.ask(1);
    const [{ responseEnd }] = performance.getEntriesByName(script.src);
    return (await running.promise) - responseEnd;
  },
};
