// The programs of the documents that the page plays: three of fibers v1, with the expectations of examples/c-scenarios,
// the fibers that fetch, and the actor that sleeps. What only one program needs is loaded when it is played.

import type { Fiber } from "../src/index.js";
import { source, valueOf } from "./items.js";
import type { Lanes } from "./lanes.js";
import "./page.js";
import { hasJspi } from "./raw.js";
import { sleepTest } from "./sleep.js";

/** An expectation, beside what was seen. */
export interface Check {
  what: string;
  want: string;
  got: string;
  right: boolean;
}

/** A program with one input. */
export interface Case {
  name: string;
  /** The file whose code runs, and which part of it to show. */
  code: [file: string, part: RegExp];
  lanes: string[];
  /** Plays it. `pause` waits for a moment after each event, if the visitor wants to watch the events one by one. */
  play(lanes: Lanes, pause: () => Promise<void> | undefined): Promise<Check[]>;
}

export async function casesOf(scenario: string): Promise<Case[]> {
  if (scenario === "S-FETCH") return [fetching];
  if (scenario === "S-SLEEP") return [sleeping];
  const { scenarios, events } = await book();
  return scenarios.filter(({ name }) => name.startsWith(`${scenario} `)).map((s) => own(s, scenario, events[s.guest]!));
}

const text = async (file: string): Promise<string> => (await fetch(file)).text();
const check = (what: string, want: string, got: string, right = want === got): Check => ({ what, want, got, right });

// --- guests with fibers of their own

interface Step {
  call: string;
  args?: (number | number[])[];
  returns?: number;
  traps?: string;
  log?: string;
  live?: string[];
}

interface Scenario {
  name: string;
  guest: string;
  steps: Step[];
  left?: string[];
}

interface Book {
  events: { [guest: string]: string[] };
  scenarios: Scenario[];
}

// examples/c-scenarios/play.mjs
interface Player {
  play(
    library: typeof fiberfill,
    module: WebAssembly.Module,
    scenario: Scenario,
    events: string[],
    told: (words: string, who: number, what: number) => Promise<void> | undefined,
  ): Promise<Scenario>;
}

let loaded: Promise<Book> | undefined;
const book = (): Promise<Book> => (loaded ??= text("scenarios.json").then((json) => JSON.parse(json) as Book));

const parts: { [scenario: string]: RegExp } = {
  "S-GEN-A": /^\/\/ void generator arrayGenerator[^]*?\n\}|^static int addAll[^]*?\n\}/gm,
  "S-ADDER": /^\/\/ void fiber adderThread[^]*?\n\}/m,
  "S-ARENA-A": /^static void cancelOthers[^]*?^EXPORT\("cancelingArena"\)[^]*?\n\}/m,
};
const watParts = /^  \(func \$(?:arrayGenerator|addAllElements) [^]*?(?=\n\n  )/gm;

// What the first lane sends to the others. Everything else they send to the first lane.
const commands = ["spawn", "next", "t# go_ahead", "t# cancel_thread"];

function own(scenario: Scenario, id: string, events: string[]): Case {
  const threads = id === "S-GEN-A" ? 0 : Math.max(1, scenario.steps.filter(({ call }) => call === "newThread").length);
  return {
    name: scenario.name.slice(id.length + 1),
    code: scenario.guest === "generator" ? ["generator.wat", watParts] : ["fibers1.c", parts[id]!],
    lanes: threads === 0 ? ["consumer", "generator"] : ["arena", ...Array.from({ length: threads }, (_, i) => `t${i}`)],
    async play(lanes, pause) {
      const player: string = "./play.mjs";
      const { play } = (await import(player)) as Player;
      const module = await fiberfill.compileStreaming(fetch(`${scenario.guest}.wasm`));
      const seen = await play(fiberfill, module, scenario, events, (words, who, what) => {
        if (what < 0) {
          lanes.mark(0, words);
          return pause();
        }
        const other = 1 + who;
        const line = words.replace(/^t\d+ /, "");
        if (commands.includes(events[what]!)) lanes.arrow(0, other, line);
        else lanes.arrow(other, 0, line);
        return pause();
      });
      const checks = scenario.steps.flatMap((want, i) => compare(want, seen.steps[i]!));
      checks.push(check("left in the end", "no fiber", seen.left?.join(", ") ?? "no fiber"));
      return checks;
    },
  };
}

/** Compares what a step was expected to do with what it did. */
function compare(want: Step, got: Step): Check[] {
  const call = `${want.call}(${(want.args ?? []).map((arg) => JSON.stringify(arg).replaceAll(",", ", ")).join(", ")})`;
  const end = ({ returns, traps }: Step) =>
    traps !== undefined ? `trap: ${traps}` : returns !== undefined ? String(returns) : "returns";
  const checks = [check(call, end(want), end(got))];
  if (want.log !== undefined) {
    const count = (log: string) => (log === "" ? 0 : log.split(", ").length);
    const right = want.log === got.log;
    const all = `all ${count(want.log)}`;
    checks.push(check("events in their order", right ? all : want.log, right ? all : (got.log ?? ""), right));
  }
  if (want.live !== undefined)
    checks.push(check("alive after it", want.live.join(", ") || "no fiber", got.live?.join(", ") || "no fiber"));
  return checks;
}

// --- fibers that fetch

/** Returns the scheduler's log since startLog, in the words of s-fetch.log. */
function schedulerLog(): string[] {
  const places: number[] = []; // of the fibers, in the scheduler's table
  return fiberfill.log().map(([event, place]) => {
    if (event === "spawned") places.push(place);
    return place === 0 ? event : `${event} f${places.lastIndexOf(place)}`;
  });
}

/** Removes pauses from a log: on a slow machine the time budget may cut a turn, which changes nothing else. */
const withoutCuts = (log: string[]): string[] =>
  log.filter(
    (line, i) => !(line === "paused" && log[i + 1] === "entered") && !(line === "entered" && log[i - 1] === "paused"),
  );

const fetching: Case = {
  name: "f1 is answered first, then f2, then f0",
  code: ["c-fetch.c", /^EXPORT\("item"\)[^]*?\n\}/m],
  lanes: ["scheduler", "f0", "f1", "f2"],
  async play(lanes, pause) {
    const want = (await text("s-fetch.log")).trim().split("\n");
    const { item } = await load("c-fetch.wasm");
    const { folder } = await source();
    const first = Math.floor(Math.random() * 1e6) * 3; // the server answers each number when it is told to
    const order: string[] = [];
    let shown = 0;
    const show = async (): Promise<void> => {
      for (const log = schedulerLog(); shown < log.length; shown++) {
        const [what, fiber] = log[shown]!.split(" ");
        const lane = fiber === undefined ? 0 : 1 + Number(fiber.slice(1));
        if (lane === 0) lanes.mark(0, what!);
        else if (what === "spawned" || what === "resumed") lanes.arrow(0, lane, what);
        else if (what === "notified") lanes.mark(lane, "answer is there");
        else lanes.arrow(lane, 0, what!);
        await pause();
      }
    };
    fiberfill.startLog();
    const fibers = [0, 1, 2].map((n) => {
      const fiber = item.with({ name: `f${n}` })(`${folder}hold?id=${first + n}`);
      void fiber.then(() => order.push(fiber.name));
      return fiber;
    });
    await waiting(fibers); // all three requests are out
    await turn(); // the scheduler has given control back
    await show();
    const values: number[] = [];
    for (const n of [1, 2, 0]) {
      await fetch(`${folder}release?id=${first + n}`, { method: "POST" });
      values[n] = (await fibers[n]) as number;
      await turn();
      await show();
    }
    const log = withoutCuts(schedulerLog());
    const count = (lines: string[], line: string) => String(lines.filter((other) => other === line).length);
    const same = log.join() === want.join();
    return [
      ...values.map((value, n) => check(`f${n} returns`, String(valueOf(first + n)), String(value))),
      check("they end in the order", "f1, f2, f0", order.join(", ")),
      check("entries from the event loop", count(want, "entered"), count(log, "entered")),
      check("pauses", count(want, "paused"), count(log, "paused")),
      check(
        "events in their order",
        same ? `all ${want.length}` : want.join(", "),
        same ? `all ${log.length}` : log.join(", "),
        same,
      ),
    ];
  },
};

/** Resolves when all of them wait. */
const waiting = (fibers: Fiber[]): Promise<void> =>
  new Promise((resolve) => {
    const stop = fiberfill.observe(() => {
      if (!fibers.every(({ state }) => state === "waiting")) return;
      stop();
      resolve();
    });
  });
const turn = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve));

// --- an actor that sleeps

const sleeping: Case = {
  name: "50 ms in the middle of a handler",
  code: ["c-actor.c", /^static int sleep_test[^]*?\n\}/m],
  lanes: ["tester T", "actor W", "native N"],
  async play(lanes) {
    if (!hasJspi()) throw new Error("An actor in C sleeps on a stack of JSPI, which this browser does not have.");
    const module: string = "./fiberfill-actors.js";
    const actors = (await import(module)) as typeof import("../src/actors.js");
    const guest = await (await fetch("c-actor.wasm")).arrayBuffer();
    const { lines, failures } = await sleepTest(actors, guest, {
      say({ at, who, what }) {
        const time = `${Math.round(at)} ms: `;
        const other = /\bW\b/.test(what) ? 1 : 2;
        if (who === "W") lanes.mark(1, time + what);
        else if (who === "N") lanes.mark(2, time + "answers");
        else if (what.startsWith("hears")) lanes.arrow(other, 0, time + /"[^"]*"/.exec(what)![0]);
        else lanes.arrow(0, other, time + what.replace(/ (?:W|N)\b/, ""));
      },
    });
    const asked = lines.find(({ what }) => what.startsWith("asks W"))!;
    const slept = lines.find(({ what }) => what === 'hears "slept" from W');
    const pongs = lines.filter(({ what, at }) => what === 'hears "pong" from N' && (!slept || at <= slept.at)).length;
    const after = slept ? slept.at - asked.at : 0;
    return [
      check("W answers", '"slept"', slept ? '"slept"' : "nothing"),
      check("after", "50 ms at least", `${after.toFixed(1)} ms`, after >= 50),
      check("N answers before it", "once at least", pongs === 1 ? "once" : `${pongs} times`, pongs > 0),
      check("failed checks", "nothing", failures.join("; ") || "nothing"),
    ];
  },
};
