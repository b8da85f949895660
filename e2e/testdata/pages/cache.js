// Goes to another page and returns from the back-forward cache while fibers are so busy that their turns are cut.
const away = () =>
  new Promise((resolve, reject) => {
    if (sessionStorage.been) return reject(new Error("the page was not in the cache: it was loaded anew"));
    sessionStorage.been = "away";
    addEventListener("pageshow", resolve, { once: true });
    location.href = "away.html";
  });

const work = (ms) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

globalThis.cache = {
  // Hangs if fibers do not go on.
  async guest() {
    let leave = true;
    const unused = fiberfill.suspending(() => 0);
    const { exports } = await fiberfill.instantiateStreaming(fetch("/wat/rules.wasm"), {
      env: {
        wait: unused,
        wait_i64: unused,
        wait_f32: unused,
        wait_f64: unused,
        wait_ref: unused,
        wait_all: unused,
        direct: () => (work(1), leave),
      },
    });
    const threads = Array.from({ length: 40 }, (_, i) => exports.thread(i));
    await new Promise((resolve) => setTimeout(resolve)); // the fibers run
    await away();
    leave = false;
    await Promise.all(threads);
  },
  // The same for a Go program, whose fetches fail at once: Firefox would lose the rest of a body that is being read.
  async go() {
    const platform = globalThis.fetch;
    const program = platform("/dist/demo/go-fetch.wasm");
    globalThis.fetch = async () => {
      throw new TypeError("no network");
    };
    const go = new Go();
    const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
    go.run(instance);
    let leave = true;
    const items = Array.from({ length: 1000 }, async () => {
      do await goFetch.item("/item?id=1").catch(() => {});
      while (leave);
    });
    try {
      await away();
      leave = false;
      await Promise.all(items);
    } finally {
      globalThis.fetch = platform;
    }
  },
};
