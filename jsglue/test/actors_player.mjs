// Plays a scenario of examples/c-actor/scenarios.txt on fiberfill/actors; that file explains the commands. It is the
// same in Node and in a page (e2e). Returns the script with what happened.

/** The scenarios of the file: titles and scripts. */
export function scenarios(text) {
  return ("\n" + text)
    .split("\n== ")
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { title: part.slice(0, end), script: part.slice(end + 1).trim() };
    });
}

const quote = (bytes) => JSON.stringify(new TextDecoder().decode(bytes));
const words = (bytes) => Array.from(new Int32Array(bytes.slice(0, bytes.length & ~3).buffer)).join(" ");

/** Shows a payload of the tester's answers: words or numbers. */
function payload({ type, payload }) {
  if (type < 300) return quote(payload);
  if (type === 301) return `${words(payload.slice(0, 12))} ${quote(payload.slice(12))}`;
  return words(payload);
}

export async function play({ Runtime, VirtualClock }, module, script) {
  const seen = [];
  const clock = new VirtualClock();
  const see = (text) => seen.push(`    t=${clock.now()} ${text}`);
  const descriptors = new Map(); // descriptors that are ready, and who waits for them
  const descriptor = (key) => {
    if (!descriptors.has(key)) descriptors.set(key, { ready: false, waiters: new Set() });
    return descriptors.get(key);
  };
  let tester;
  const runtime = new Runtime({
    clock,
    log: (from, level, text) => see(`${from} logs ${level} ${JSON.stringify(text)}`),
    ended(id, error) {
      const how = {
        "stack-overflow": ": trapped by the host",
        "bad-address": ": trapped by the host",
        trap: ": trapped",
      };
      see(`${id} over${error ? how[error.code] : ""}`);
      if (runtime.info(id)) see(`${id} has ended and is there`);
      if (error?.code === "trap" && !(error.cause instanceof WebAssembly.RuntimeError)) throw error;
    },
    ready(fd, write, signal) {
      const d = descriptor(`${fd} ${write ? "w" : "r"}`);
      if (d.ready) return Promise.resolve();
      return new Promise((resolve) => {
        d.waiters.add(resolve);
        signal.addEventListener("abort", () => d.waiters.delete(resolve));
      });
    },
  });
  const first = runtime.spawnNative(
    (host, message) => {
      tester = host;
      if (message.source !== 0) see(`${message.source} sent ${message.type} ${payload(message)}`);
      return true;
    },
    { room: 100 },
  );
  runtime.send(first, 0);
  await runtime.step();

  const spawn = (make) => {
    try {
      see(`${make()} is alive`);
    } catch (error) {
      see({ "bad-class": "not a class", "bad-mailbox": "not a mailbox" }[error.code] ?? String(error));
    }
  };
  const commands = {
    spawn: (stack, room = 10) => spawn(() => runtime.spawn(module, { stack: Number(stack), room: Number(room) })),
    native: (room = 10) => spawn(() => runtime.spawnNative(answering, { room: Number(room) })),
    send(to, type, ...rest) {
      let bytes = "";
      if (rest[0]?.startsWith('"')) bytes = JSON.parse(rest.join(" "));
      else if (rest.length > 0) bytes = new Uint8Array(Int32Array.from(rest, Number).buffer);
      if (tester.send(Number(to), Number(type), bytes) !== 0) see("refused");
    },
    async steps(n) {
      for (let i = 0; i < Number(n); i++) {
        await runtime.step();
        if (runtime.wheel.active() !== 0) throw new Error("K-1: a fiber is active after a step");
        clock.pass(1);
      }
    },
    pass: (ms) => clock.pass(Number(ms)),
    info(id) {
      const i = runtime.info(Number(id));
      if (!i) return see("there is no such actor");
      const state = !i.blocked ? "not blocked" : i.deadline !== 0 ? `blocked until ${i.deadline}` : "blocked";
      see(`${id} has class ${i.stack}, is ${state}, ${i.mailbox} in the mailbox`);
    },
    stop: (id) => runtime.stop(Number(id)) || see("there is no such actor"),
    async ready(fd, way) {
      const d = descriptor(`${fd} ${way}`);
      d.ready = true;
      for (const resolve of d.waiters) resolve();
      await new Promise((resolve) => setTimeout(resolve)); // a microtask or two until the waiter is told
    },
    unready: (fd, way) => void (descriptor(`${fd} ${way}`).ready = false),
    fibers: () => see(`${runtime.fibers} fibers`),
  };
  for (const line of script.split("\n")) {
    if (line === "" || line[0] === " " || line[0] === "#") continue;
    seen.push(line);
    const [name, ...args] = line.split(" ");
    await commands[name](...args);
  }
  const result = seen.join("\n");
  runtime.close();
  if (runtime.fibers !== 0) throw new Error(`${runtime.fibers} fibers are left`);
  for (const [key, { waiters }] of descriptors)
    if (waiters.size > 0) throw new Error(`somebody still waits for descriptor ${key}`);
  return result;
}

/** Answers a ping with a pong. It cannot block. */
function answering(host, { type, source }) {
  if (type === 200) return host.send(source, 201, "pong") === 0;
  const result = host.sleepMs(10);
  return host.send(source, type, new Uint8Array(Int32Array.of(result).buffer)) === 0;
}
