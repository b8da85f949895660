// The demo: starts a small run by itself, then what the form says, each followed by the same on raw JSPI, and updates
// everything shown once a frame.

import { showCode } from "./code.js";
import { announce, clearResults, columns, say, showResults, showStates } from "./counters.js";
import { Frames } from "./frames.js";
import { guest } from "./guests.js";
import { source } from "./items.js";
import { count } from "./numbers.js";
import { darkScheme, element } from "./page.js";
import { AT_ONCE, hasJspi, left, network, rawGuest } from "./raw.js";
import "./reach.js";
import { CANCELLED } from "./recording.js";
import { Run, type Settings } from "./run.js";
import "./scenarios.js";
import { Strip } from "./strip.js";
import { Table } from "./table.js";
import { Timeline } from "./timeline.js";

/** How many fibers the page starts by itself. */
const FIRST = 100;

const form = element<HTMLFormElement>("settings");
const cancelButton = element<HTMLButtonElement>("cancel");
const rawNote = element("raw-note");
const shown = element("timeline");
const timeline = new Timeline();
const strip = new Strip(element<HTMLCanvasElement>("raw-bars"));
const table = new Table();
let runs: Run[] = []; // with fiberfill, and on raw JSPI
let latest = 0;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void begin(settings());
});
cancelButton.addEventListener("click", cancel);

function cancel(): void {
  runs.filter(({ end }) => end === undefined).forEach((run) => run.cancel());
}

function settings(): Settings {
  const fields = new FormData(form);
  const number = (name: string) => Number(fields.get(name));
  return {
    guest: String(fields.get("guest")),
    fibers: number("fibers"),
    latency: number("latency"),
    failure: number("failure"),
  };
}

/** Ends what is under way and runs what was chosen, until the next call ends that. */
async function begin(chosen: Settings, then = ""): Promise<void> {
  const number = ++latest;
  shown.setAttribute("aria-busy", "true");
  try {
    cancel();
    await Promise.all(runs.map(({ ended }) => ended));
    if (number === latest) await play(chosen, () => number !== latest, then);
  } catch (error) {
    if (number === latest) say(error instanceof Error ? error.message : String(error));
  }
  if (number !== latest) return;
  cancelButton.disabled = true;
  shown.setAttribute("aria-busy", "false");
}

/**
 * Runs with fiberfill, dispatches "run-over" on the form, and runs on raw JSPI, until the last call has ended, or
 * another run is to begin.
 */
async function play(chosen: Settings, over: () => boolean, then: string): Promise<void> {
  const [loaded, { folder, server }] = await Promise.all([guest(chosen.guest), source()]);
  if (over()) return;
  runs.forEach((run) => run.close());
  document.body.classList.add("ran");
  showSource(server);
  rawNote.textContent = "It comes next.";
  clearResults(columns.raw);
  strip.show(undefined);

  const run = new Run(loaded, chosen, folder);
  runs = [run];
  // A browser keeps six connections to one host; a service worker has no such limit.
  const rounds = server ? Math.ceil(chosen.fibers / 6) : 1;
  timeline.show(run, ((rounds + 1) * chosen.latency + 200 + chosen.fibers / 2) * 1.1);
  announce(run);
  cancelButton.disabled = false;
  let announced = 0;
  let listed = 0;
  const frames = new Frames(() => {
    timeline.frame();
    showStates(run);
    showResults(columns.fiberfill, run, frames);
    const now = performance.now();
    if (now - listed > 250) {
      listed = now;
      table.update();
    }
    if (now - announced > 5000) {
      announced = now;
      announce(run);
    }
  });
  await run.ended;
  frames.end();
  timeline.fit(run.elapsed);
  showStates(run);
  table.update();
  announce(run, then);
  await run.measured;
  if (over()) return;
  showResults(columns.fiberfill, run, frames);
  form.dispatchEvent(new Event("run-over"));
  rawNote.textContent = (await compare(run, over)) ?? rawNote.textContent;
}

/** Runs the same on raw JSPI. Returns what is to be said of it. */
async function compare(first: Run, over: () => boolean): Promise<string | undefined> {
  const { guest: name, fibers } = first.settings;
  if (first.record.counts[CANCELLED]! > 0) return "There is nothing to compare after a cancellation.";
  if (name === "go") return "A Go program brings a scheduler of its own and needs no JSPI.";
  if (!hasJspi()) return "This browser has no JSPI: fiberfill keeps the stacks itself.";
  if (fibers > AT_ONCE / 2 || fibers > left())
    return "It is not run: so many of its stacks come near to what ends the tab. Reload the page, with fewer calls.";

  const loaded = await rawGuest(`${name}-fetch.wasm`, fibers, network);
  if (over()) return undefined;
  const run = new Run(loaded, first.settings, first.folder);
  runs = [first, run];
  strip.show(run);
  const longer = Math.max(first.elapsed, 1);
  const frames = new Frames(() => {
    if (run.elapsed > longer) timeline.fit(Math.max(timeline.span, run.elapsed * 1.2));
    strip.frame(timeline.span);
    showResults(columns.raw, run, frames);
    rawNote.textContent = `${count(run.right)} of ${count(run.record.ended)} right so far.`;
  });
  await run.ended;
  frames.end();
  if (over()) return undefined;
  timeline.fit(Math.max(first.elapsed, run.elapsed));
  strip.frame(timeline.span);
  await run.measured;
  if (over()) return undefined;
  showResults(columns.raw, run, frames);
  const { right, refused } = run;
  const wanted = fibers - refused;
  if (right === wanted) return `${count(right)} of ${count(wanted)} right.`;
  return `${count(right)} of ${count(wanted)} right: its waiting calls share one stack in memory, and run out of it.`;
}

function showSource(server: boolean): void {
  const [who, why] = server
    ? [
        "The server is real, and so are its latencies and failures. The browser keeps six requests to one host on the",
        "wire and lets the others wait: how much faster that is than one by one is up to these connections,",
      ]
    : [
        "This site has only files: a service worker in the browser answers, with the latencies and failures chosen,",
        "and all requests at once. How much faster that is than one by one is up to it,",
      ];
  element("source").textContent = `${who} ${why} on both sides.`;
}

function choose(): void {
  const { guest: chosen } = settings();
  void showCode(chosen);
  guest(chosen).catch(() => {}); // load it now; if that fails, begin says so
  document.body.classList.toggle("go", chosen === "go");
}
form.addEventListener("change", choose);
darkScheme.addEventListener("change", () => strip.repaint(timeline.span));
choose();

/** The first run begins when the page is drawn: while it still loads, nothing would move. */
function beginByItself(): void {
  if (latest > 0) return; // the visitor was faster
  void begin({ ...settings(), fibers: FIRST }, ` Press Start for ${count(settings().fibers)}.`);
}
if (document.readyState === "complete") requestAnimationFrame(beginByItself);
else addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(beginByItself)));
