// The end-to-end test of modules A and B, of the editor and of the worker, in the engine they are made for. The Go test
// TestBorder runs it under Node 26 with the folder of the modules it has generated as BORDER.
import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const load = (name) => new WebAssembly.Module(readFileSync(join(process.env.BORDER, name)));
const BASE = 65536; // where the guest's stack pointer is at rest
const REGION = 4096; // bytes

// The least JavaScript that can stand behind the border: it runs one fiber after another.
function border({ stubs = "b.wasm", imports = {}, log = [], refused = () => 0, size = REGION } = {}) {
  const guestModule = load("guest.wasm");
  let running; // the fiber whose thunk runs
  let queued; // the one that the next worker to ask is for
  let idle; // resolves what an idle worker waits for
  let workers = 0;
  const worker = new WebAssembly.Instance(load("worker.wasm"), {
    js: {
      // Asking for the next job is how a worker says that the last one is done.
      next: new WebAssembly.Suspending(() => {
        running?.resolve(running.results);
        return queued
          ? undefined
          : new Promise((resolve) => {
              idle = resolve;
            });
      }),
      runner() {
        [running, queued] = [queued];
        return running;
      },
      job: () => running.thunk,
    },
  }).exports;
  const thrown = () => {
    try {
      worker.rethrow();
    } catch (e) {
      return { e };
    }
  };

  const start = new Proxy(
    {},
    {
      get: (_, i) => () => {
        throw i;
      },
    },
  );
  const a = new WebAssembly.Instance(load("a.wasm"), { start }).exports;
  const names = WebAssembly.Module.imports(guestModule)
    .filter((i) => i.kind === "function")
    .map((i) => i.name);
  const env = {};
  const wait = {};
  const direct = {};
  names.forEach((name, i) => {
    if (!a["f" + i]) return void (env[name] = imports[name] ?? ((x) => x));
    env[name] = a["f" + i];
    direct[i] = (...args) => {
      log.push(["direct", name, sp.value]);
      return (imports[name] ?? ((x) => x))(...args);
    };
    wait[i] = new WebAssembly.Suspending((...args) => {
      log.push(["wait", name, sp.value, parked?.value]);
      return (imports[name] ?? ((x) => x))(...args);
    });
  });
  const guest = new WebAssembly.Instance(guestModule, { env });
  const list = WebAssembly.Module.exports(guestModule);
  const sp = guest.exports.pointer ?? { value: 0 };
  let parked;

  const js = {
    rest: new WebAssembly.Global({ value: "i32", mutable: true }, BASE),
    size,
    start: (runner) => (runner.start ? runner.start() : runner.sp),
    failed: (runner) => {
      log.push(["failed", sp.value]);
      runner.reject(thrown());
    },
    refused: (i) => {
      log.push(["refused", names[i], sp.value]);
      return refused(i);
    },
    resumed: () => log.push(["resumed", sp.value]),
    ended: () => log.push(["ended", sp.value]),
    touched: () => log.push(["touched", b.low.value]),
  };
  const module = load(stubs);
  for (const { module: m, name } of WebAssembly.Module.imports(module)) {
    if (m === "js" && name.startsWith("arg:")) js[name] = (runner, i) => runner.args[i];
    if (m === "js" && name.startsWith("result:")) {
      js[name] = (runner, i, v) => {
        runner.results[i] = v;
      };
    }
  }
  const b = new WebAssembly.Instance(module, {
    guest: Object.assign(Object.fromEntries(list.map((e, k) => [k, guest.exports[e.name]])), {
      sp,
      memory: guest.exports.memory,
    }),
    js,
    wait,
    direct,
    slots: a,
    worker,
  }).exports;
  parked = b.parked;

  // run starts an export as a fiber on a worker. It resolves with the results as an array, or rejects with { e } for an
  // exception and { trap } for a trap.
  const run = (name, args = [], options = {}) =>
    new Promise((resolve, reject) => {
      const thunk = b["t" + list.findIndex((e) => e.name === name)];
      queued = { args, results: [], sp: BASE - 4096, resolve, reject, thunk, ...options };
      if (idle) {
        const give = idle;
        idle = undefined;
        give();
      } else {
        workers++;
        WebAssembly.promising(worker.worker)(null).catch((trap) => running.reject({ trap }));
      }
    });
  return { a, b, guest, worker, sp, run, names, workers: () => workers };
}

test("every generated module is valid", () => {
  for (const f of ["a.wasm", "b.wasm", "regions.wasm", "bare.wasm", "guest.wasm", "worker.wasm"]) {
    assert.ok(load(f), f);
  }
});

test("the edited guest exports its stack pointer and still works", () => {
  const { guest, sp } = border();
  assert.equal(sp.value, BASE);
  sp.value = 4096;
  assert.equal(guest.exports.sp_now(), 4096);
});

const five = [-7, -(2n ** 63n), Math.fround(1.1), Math.PI, { any: "thing" }];

test("a thunk delivers arguments and results of every type, several at a time", async () => {
  const { run, sp } = border();
  assert.deepEqual(await run("all", five), five);
  assert.deepEqual(await run("nothing"), []);
  assert.equal(sp.value, BASE);
});

test("a thunk runs its export on the stack that start returns and rests at base", async () => {
  const { run, sp } = border();
  assert.deepEqual(await run("sp_now", [], { sp: 1024 }), [1024]);
  assert.equal(sp.value, BASE);
});

test("a direct import is called as before", async () => {
  const { run } = border({ imports: { direct: (x) => x * 2 } });
  assert.deepEqual(await run("direct", [21]), [42]);
});

test("a stub suspends, parks the pointer, and puts it back on return", async () => {
  const log = [];
  const { run, sp, b } = border({
    log,
    imports: {
      wait: () =>
        new Promise((resolve) =>
          setImmediate(() => {
            // The stack is suspended: nobody runs.
            log.push([sp.value, b.parked.value]);
            sp.value = 16; // what others leave there does not matter
            resolve(0);
          }),
        ),
    },
  });
  assert.deepEqual(await run("keep", [4711], { sp: 8192 }), [4711]);
  assert.equal(sp.value, BASE);
  assert.deepEqual(log, [
    ["wait", "wait", BASE, 8176],
    [BASE, 8176],
    ["wait", "wait", BASE, 8176],
    [BASE, 8176],
  ]);
});

test("a wait delivers arguments and results of every type", async () => {
  const seen = [];
  const { run } = border({
    imports: {
      wait_all: async (...args) => {
        seen.push(args);
        return args;
      },
      wait_none: async () => {},
    },
  });
  assert.deepEqual(await run("wait_all", five), five);
  assert.deepEqual(seen, [five]);
  assert.deepEqual(await run("wait_none"), []);
});

test("types from groups, of the garbage collector and open to subtypes cross a wait", async () => {
  const { run } = border({ imports: { wait_node: async (node) => 1, wait_open: async (x) => x + 1 } });
  assert.deepEqual(await run("node", [12]), [12]);
  assert.deepEqual(await run("open", [12]), [13]);
});

for (const [what, value] of [
  ["an Error", new Error("as it is")],
  ["undefined", undefined],
  ["a string", "text"],
]) {
  test(`${what} keeps its identity through stub and thunk`, async () => {
    for (const wait of [
      () => Promise.reject(value),
      () => {
        throw value;
      },
    ]) {
      const log = [];
      const { run, sp } = border({ log, imports: { wait } });
      const reason = await run("keep", [1], { sp: 8192 }).then(
        () => assert.fail("resolved"),
        (e) => e,
      );
      assert.ok("e" in reason);
      assert.equal(reason.e, value);
      assert.deepEqual(log, [
        ["wait", "wait", BASE, 8176],
        ["refused", "wait", 8176],
        ["failed", BASE],
      ]);
      assert.equal(sp.value, BASE);
    }
  });
}

test("the guest can catch what an import throws and has its stack pointer back", async () => {
  const { run } = border({ imports: { wait: () => Promise.reject(1) } });
  assert.deepEqual(await run("catches", [1]), [0]);
});

test("what start or an argument throws leaves through failed", async () => {
  const refusal = new Error("no region left");
  const { run, sp } = border();
  assert.equal(
    (
      await run("nothing", [], {
        start() {
          throw refusal;
        },
      }).catch((e) => e)
    ).e,
    refusal,
  );
  const bad = await run("all", [1, 2 /* not a BigInt */, 3, 4, 5]).catch((e) => e);
  assert.ok(bad.e instanceof TypeError);
  assert.equal(sp.value, BASE);
});

test("a type that JavaScript does not have is a TypeError, as in a call from JavaScript", async () => {
  const { run, guest } = border();
  assert.throws(() => guest.exports.vector(0), TypeError);
  assert.ok((await run("vector", [0]).catch((e) => e)).e instanceof TypeError);
});

test("a trap is caught by nobody and ends the worker", async () => {
  const log = [];
  const { run } = border({ log });
  const { trap } = await run("trap").catch((e) => e);
  assert.ok(trap instanceof WebAssembly.RuntimeError);
  assert.deepEqual(log, []);
});

test("an exception costs no worker, a trap costs one", async () => {
  let n = 0;
  const { run, workers } = border({ imports: { wait: () => Promise.reject(++n) } });
  for (let i = 1; i <= 100; i++) assert.equal((await run("keep", [1]).catch((e) => e)).e, i);
  assert.deepEqual(await run("direct", [3]), [3]);
  assert.equal(workers(), 1);
  await assert.rejects(run("trap"));
  assert.deepEqual(await run("direct", [3]), [3]);
  assert.equal(workers(), 2);
});

test("a wait that the engine refuses reaches refused with a SuspendError", () => {
  const log = [];
  const refused = () => {
    assert.throws(() => worker.rethrow(), WebAssembly.SuspendError);
    return 0;
  };
  const { guest, worker } = border({ log, imports: { wait: async () => 1 }, refused });
  assert.throws(() => guest.exports.keep(1), WebAssembly.SuspendError);
  assert.deepEqual(log, [["refused", "wait", BASE - 16]]);
});

test("what refused throws takes the place of the refusal", () => {
  const better = new Error("call it through exports");
  const log = {
    push() {
      throw better;
    },
  };
  const { guest } = border({ log, imports: { wait: async () => 1 } });
  assert.throws(
    () => guest.exports.keep(1),
    (e) => e === better,
  );
});

test("where the engine refuses to wait, the import is called directly if refused says so", () => {
  const log = [];
  const { guest, sp } = border({ log, imports: { wait: (x) => x * 2 }, refused: () => 1 });
  assert.equal(guest.exports.keep(21), 21);
  const once = [
    ["refused", "wait", BASE - 16],
    ["direct", "wait", BASE - 16],
  ];
  assert.deepEqual(log, [...once, ...once]); // keep waits twice
  assert.equal(sp.value, BASE);
});

test("with shared stacks, a return or any exception but a refusal calls resumed; the end calls ended", async () => {
  for (const [wait, ...rest] of [
    [async () => 0, ["resumed", 8176]],
    [() => Promise.reject(1), ["refused", "wait", 8176], ["resumed", 8176]],
  ]) {
    const log = [];
    const { run, worker } = border({ log, imports: { wait } });
    worker.shared.value = 1;
    await run("keep", [1], { sp: 8192 }).catch(() => {});
    assert.deepEqual(log.slice(0, 1 + rest.length), [["wait", "wait", BASE, 8176], ...rest]);
    assert.equal(log.filter(([what]) => what === "ended").length, 1);
  }
  const log = [];
  const { guest, worker } = border({ log, imports: { wait: (x) => x * 2 }, refused: () => 1 });
  worker.shared.value = 1;
  guest.exports.keep(7);
  const once = [
    ["refused", "wait", BASE - 16],
    ["direct", "wait", BASE - 16],
  ];
  assert.deepEqual(log, [...once, ...once]);
});

const untouched = (guest) => new Int32Array(guest.exports.memory.buffer).fill(0x0f1be4f1);

test("stubs and the end of a thunk check every word of the guard below the running fiber, and no other", async () => {
  for (const top of [8192, 65536]) {
    for (let at = top - REGION - 4; at <= top - REGION + 64; at += 4) {
      const log = [];
      const { run, guest, b } = border({ stubs: "regions.wasm", log, imports: { wait: () => Promise.resolve(0) } });
      untouched(guest)[at / 4] = 1;
      assert.deepEqual(await run("keep", [5], { sp: top }), [5]);
      assert.equal(b.low.value, top - REGION);
      const told =
        at >= top - REGION && at < top - REGION + 64
          ? ["touched", "wait", "touched", "wait", "touched"]
          : ["wait", "wait"];
      assert.deepEqual(
        log.map(([what]) => what),
        told,
        `at ${at}`,
      );
      log.length = 0;
      await run("nothing", [], { sp: top });
      assert.deepEqual(
        log.map(([what]) => what),
        told.slice(4),
        `at ${at}`,
      );
    }
  }
});

test("a fiber that waits with its stack pointer below its region is told of, also if its guard is whole", async () => {
  for (const [size, told] of [
    [16, []],
    [12, ["touched"]],
  ]) {
    // the frame has 16 bytes
    const log = [];
    const { run, guest } = border({ stubs: "regions.wasm", log, size, imports: { wait: async () => 0 } });
    untouched(guest);
    await run("keep", [0x0f1be4f1], { sp: 8192 }); // written where the guard of the larger one is
    assert.deepEqual(
      log.map(([what]) => what),
      [...told, "wait", ...told, "wait"],
      `a region of ${size} bytes`,
    );
  }
});

test("a fiber that fails has its guard looked at, too", async () => {
  const log = [];
  const { run, guest } = border({
    stubs: "regions.wasm",
    log,
    imports: {
      wait() {
        untouched(guest)[1024] = 1;
        throw 1;
      },
    },
  });
  untouched(guest);
  await run("keep", [5], { sp: 8192 }).then(
    () => assert.fail("resolved"),
    () => {},
  );
  assert.deepEqual(
    log.map(([what]) => what),
    ["wait", "refused", "touched", "failed"],
  );
});

test("a fiber that goes on has its own guard looked at, whoever ran meanwhile", async () => {
  for (const wait of [() => Promise.resolve(0), () => Promise.reject(0)]) {
    const log = [];
    const { run, guest, b } = border({
      stubs: "regions.wasm",
      log,
      imports: {
        wait: (x) => {
          b.low.value = 65536 - REGION;
          return wait(x);
        },
      },
    });
    untouched(guest)[(8192 - REGION) / 4] = 1;
    await run("catches", [5], { sp: 8192 });
    assert.deepEqual(
      log.filter(([what]) => what === "touched"),
      [
        ["touched", 8192 - REGION],
        ["touched", 8192 - REGION],
      ],
    );
  }
});

test("nothing is looked at before a fiber has run", () => {
  const log = [];
  const { guest } = border({ stubs: "regions.wasm", log, imports: { wait: (x) => x }, refused: () => 1 });
  guest.exports.keep(7);
  assert.deepEqual(
    log.filter(([what]) => what === "touched"),
    [],
  );
  assert.equal(border().b.low, undefined); // without regions there is nothing to look at, ever
});

test("a guest without a stack pointer needs none, and start is called all the same", async () => {
  let starts = 0;
  const { run, b } = border({ stubs: "bare.wasm", imports: { wait_all: async (...args) => args } });
  assert.equal(b.parked, undefined);
  assert.deepEqual(await run("wait_all", five, { start: () => ++starts }), five);
  assert.equal(starts, 1);
});

test("every slot is filled once B exists, and until then calls what A is given", () => {
  const { a, b, names } = border();
  const slots = Object.keys(a).filter((n) => n[0] === "s");
  assert.deepEqual(
    slots,
    names.flatMap((n, i) => (n.startsWith("wait") ? ["s" + i] : [])),
  );
  const { wait_none } = Object.fromEntries(names.map((n, i) => [n, i]));
  for (const s of slots) assert.equal(typeof a[s].value, "function");
  const early = new WebAssembly.Instance(load("a.wasm"), {
    start: new Proxy({}, { get: (_, i) => () => assert.equal(i, String(wait_none)) }),
  }).exports;
  early["f" + wait_none]();
});

test("rethrow throws what was caught once, then traps", async () => {
  const { run, worker } = border({ imports: { wait: () => Promise.reject(1) } });
  assert.deepEqual(await run("keep", [1]).catch((e) => e), { e: 1 });
  assert.throws(() => worker.rethrow(), WebAssembly.RuntimeError);
});
