// The sleep test of system E, for a page: an actor in C sleeps for 50 ms in the middle of its handler, and another
// actor answers meanwhile. It takes the module fiberfill/actors and the bytes of examples/c-actor/guest.wasm, so that a
// page loads them only when somebody wants to see this. It returns what happened, and which expectations failed.
//
//   const actors = await import("./fiberfill-actors.js");
//   const guest = await (await fetch("c-actor.wasm")).arrayBuffer();
//   const { lines, failures } = await sleepTest(actors, guest, { say: (line) => show(line) });

type Actors = typeof import("../src/actors.js");

/** One event. */
export interface Line {
  /** Milliseconds since the test began, by its clock. */
  at: number;
  /** W sleeps, N is native, T is the tester. */
  who: "W" | "N" | "T";
  what: string;
}

export interface SleepLog {
  lines: Line[];
  /** The expectations that failed; empty if none did. */
  failures: string[];
}

export interface SleepOptions {
  /** The machine's clock, or one that each step advances by a millisecond; real by default. */
  clock?: "real" | "virtual";
  /** The stack class of W; 32768 by default. With 0, W cannot sleep, and says so. */
  stack?: 0 | 32768 | 65536 | 131072;
  /** Called with each line as it happens. */
  say?: (line: Line) => void;
}

const PING = 200;
const PONG = 201;
const SLEEP_TEST = 204;
const NO_FIBER = 207;

/**
 * Runs the test once. That takes 50 ms, or next to nothing by the virtual clock. Rejects only if the guest is not the
 * right one.
 */
export async function sleepTest(
  actors: Actors,
  guest: BufferSource,
  { clock = "real", stack = 32768, say }: SleepOptions = {},
): Promise<SleepLog> {
  const lines: Line[] = [];
  const failures: string[] = [];
  const virtual = clock === "virtual" ? new actors.VirtualClock() : undefined;
  const time = virtual ?? actors.realClock();
  const note = (who: Line["who"], what: string): void => {
    const line = { at: time.now(), who, what };
    lines.push(line);
    say?.(line);
  };
  const must = (holds: boolean, what: string): void => {
    if (!holds) failures.push(what);
  };

  const module = await actors.compileActor(guest);
  const answers: { source: number; type: number; text: string; at: number }[] = [];
  let closing = false;
  const runtime = new actors.Runtime({
    clock: time,
    ended: (_, error) => must(closing, `no actor ends: ${error ? error.message : "without an error"}`),
  });
  const w = runtime.spawn(module, { stack });
  const n = runtime.spawnNative((host, { source }) => {
    note("N", "answers the ping");
    return host.send(source, PONG, "pong") === 0;
  });
  const t = runtime.spawnNative((host, { type, source, payload }) => {
    if (source === 0) {
      // The world outside tells T what to send.
      const [what, to, message] = asked[type]!;
      note("T", what);
      return host.send(to, message) === 0;
    }
    const text = new TextDecoder().decode(payload);
    note("T", `hears "${text}" from ${source === w ? "W" : "N"}`);
    answers.push({ source, type, text, at: time.now() });
    return true;
  });
  const asked: [what: string, to: number, message: number][] = [
    ["asks W to sleep for 50 ms", w, SLEEP_TEST],
    ["pings N", n, PING],
    ["pings W", w, PING],
  ];
  const SLEEP = 0,
    PING_N = 1,
    PING_W = 2;
  const step = async (): Promise<void> => {
    const more = await runtime.step();
    if (virtual) virtual.pass(1);
    else if (!more) await new Promise((resolve) => setTimeout(resolve, 1));
  };

  const started = time.now();
  runtime.send(t, SLEEP);
  runtime.send(t, PING_N);
  let blocked = false;
  for (let pings = 1; failures.length === 0 && answers.length < pings + 1;) {
    await step();
    const info = runtime.info(w);
    if (info?.blocked && !blocked) {
      blocked = true;
      note("W", `sleeps; its deadline is ${Math.round(info.deadline)}`);
    }
    // N stays responsive: a ping every 10 ms while W sleeps.
    if (info?.blocked && pings < 4 && time.now() - started >= 10 * pings) {
      pings++;
      runtime.send(t, PING_N);
    }
  }
  const [slept] = answers.filter(({ source }) => source === w);
  const pongs = answers.filter(({ source }) => source === n);
  if (slept && stack === 0) {
    must(slept.type === NO_FIBER && slept.text === "no_fiber", "without a stack W is told that it cannot sleep");
    must(!blocked, "without a stack W does not block");
  } else if (slept) {
    must(slept.type === PONG && slept.text === "slept", `W answers "slept"`);
    must(slept.at - started >= 50, "W does not answer before 50 ms are over");
    must(pongs.length > 0 && pongs.every(({ at }) => at < slept.at), "N answers while W sleeps");
  }
  const before = answers.length;
  runtime.send(t, PING_W);
  while (failures.length === 0 && answers.length === before) await step();
  must(runtime.fibers === (stack === 0 ? 0 : 1), "there is one fiber for one stack");
  closing = true;
  runtime.close();
  must(runtime.fibers === 0, "no fiber is left");
  return { lines, failures };
}
