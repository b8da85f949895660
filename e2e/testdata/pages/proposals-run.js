// The page, the workers and Firefox all run this with the guest of fibers1 (jsglue/test/testdata/fibers1.c).
globalThis.proposalsRun = async (fiberfill) => {
  const failure = new Error("failure");
  const env = {
    note() {},
    wait: fiberfill.suspending(async (n) => n + 4),
    fail() {
      throw failure;
    },
    call() {},
  };
  const module = await fiberfill.compileStreaming(fetch("/guests/fibers1.wasm"));
  const { exports, fibers } = await fiberfill.instantiate(module, { env });
  await exports.init();
  const rejected = (fiber) =>
    fiber.then(
      (value) => {
        throw new Error(`resolved with ${value}`);
      },
      (error) => error,
    );
  const results = {
    sum: await exports.sum(100),
    values: await exports.values(),
    spawn: await exports.spawn(),
    waits: await exports.end(3),
    same: (await rejected(exports.end(0))) === failure,
    trap: (await rejected(exports.end(1))).code,
    refused: (await rejected(exports.refused(5))).message.replace(/^.*refused: /, ""),
    entries: await Promise.all([10, 20, 30].map((n) => exports.sum(n))),
    generators: await exports.sums(2000),
  };
  await exports.keep(20);
  results.kept = fibers().filter(({ started }) => started).length;
  results.more = await exports.more(7);
  for (const fiber of fibers()) fiber.release();
  results.left = fibers().length + fiberfill.fibers().length;
  return results;
};
