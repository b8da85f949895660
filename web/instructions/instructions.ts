// The page to try the instructions: the program, its run, and its steps.

import { Lanes } from "../demo/lanes.js";
import { element, reducedMotion } from "../demo/page.js";
import { fromFragment, toFragment } from "./link.js";
import type { Run } from "./run.js";

const PACE = 250; // ms between two steps, until the visitor takes over

const programs = [
  ...["generator", "tree", "await", "threads", "actors", "effects", "pipe"],
  ...["throw-in", "throw-out", "switch", "bind", "deep", "twice"],
];
const source = element<HTMLTextAreaElement>("source");
const choice = element<HTMLSelectElement>("programs");
const form = element<HTMLFormElement>("program");
const button = (id: string) => element<HTMLButtonElement>(id);
const stop = button("stop");
const outcome = element("outcome");
const texts = new Map<string, string>(); // of our programs, by name

let worker: Worker | undefined;
let shown: Run | undefined;
let lanes: Lanes | undefined;
let at = 0; // how many steps are shown
let playing: ReturnType<typeof setInterval> | undefined;

async function begin(): Promise<void> {
  await Promise.all(
    programs.map(async (name) => {
      const response = await fetch(`programs/${name}.wat`);
      if (!response.ok) throw new Error(`programs/${name}.wat: status ${response.status}`);
      texts.set(name, await response.text());
    }),
  );
  const title = (name: string) => /^;; ([^:.]*)/.exec(texts.get(name)!)![1]!;
  choice.replaceChildren(...programs.map((name) => new Option(title(name), name)), new Option("Your own", ""));
  addEventListener("hashchange", () => void load());
  await load();
}

/** Takes the program that the address has. */
async function load(): Promise<void> {
  try {
    const found = await fromFragment(location.hash);
    const name = "name" in found ? found.name || programs[0]! : "";
    const text = "text" in found ? found.text : texts.get(name);
    if (text === undefined) throw new Error();
    choice.value = name;
    source.value = text;
  } catch {
    return say("The address has no program that can be read.", true);
  }
  form.requestSubmit();
}

function say(text: string, wrong: boolean): void {
  outcome.textContent = text;
  outcome.className = wrong ? "wrong" : "";
}

function end(): void {
  worker?.terminate();
  worker = undefined;
  stop.disabled = true;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!stop.disabled) end();
  clearInterval(playing);
  if (!worker) {
    worker = new Worker("worker.js", { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Run>) => show(data));
    worker.addEventListener("error", ({ message }) => {
      end();
      say(message || "The assembler could not be loaded.", true);
    });
  }
  stop.disabled = false;
  element("line").hidden = true;
  say("Assembling and running. The assembler is loaded once, 15 MB.", false);
  worker.postMessage(source.value);
});
stop.addEventListener("click", () => {
  end();
  say("Stopped.", true);
});
source.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
source.addEventListener("input", () => (choice.value = ""));
choice.addEventListener("change", () => {
  if (choice.value) location.hash = choice.value;
});
button("share").addEventListener("click", async () => {
  const ours = choice.value && texts.get(choice.value) === source.value ? choice.value : undefined;
  history.replaceState(undefined, "", await toFragment(source.value, ours));
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is in the clipboard, and in the address bar.", false);
  } catch {
    say("The link is in the address bar.", false);
  }
});

/** Shows a run, step after step, or all of it to those who want no motion. Then dispatches "ran" on the form. */
function show(run: Run): void {
  stop.disabled = true;
  shown = run;
  const has = run.native ? "It has these instructions" : "It has no such instructions";
  element("engine").textContent = `This engine is ${engine()}. ${has}; fiberfill has rewritten the program for it.`;
  element("engine").hidden = run.error !== undefined && run.steps.length === 0;
  const returned = run.result && `, and returned ${run.result}`;
  say(run.error ?? `Ended after ${run.steps.length} steps${returned}.`, run.error !== undefined);
  point(run.error);
  lanes = undefined;
  at = 0;
  go(reducedMotion.matches ? run.steps.length : 1);
  if (!reducedMotion.matches) {
    playing = setInterval(() => (at < run.steps.length ? go(at + 1) : clearInterval(playing)), PACE);
  }
  form.dispatchEvent(new Event("ran"));
}

/** Shows the line that an error of the assembler names, and selects it in the program. */
function point(error: string | undefined): void {
  const number = /^Line (\d+),/.exec(error ?? "")?.[1];
  const lines = source.value.split("\n");
  const text = number === undefined ? undefined : lines[Number(number) - 1];
  element("line").hidden = text === undefined;
  if (text === undefined) return;
  element("line").textContent = `${number}  ${text.trim()}`;
  const start = lines.slice(0, Number(number) - 1).join("\n").length + (number === "1" ? 0 : 1);
  source.setSelectionRange(start, start + text.length);
}

/** Shows so many steps. */
function go(to: number): void {
  const { steps, lanes: names } = shown!;
  to = Math.max(0, Math.min(steps.length, to));
  if (!lanes || to < at) {
    lanes = new Lanes(names);
    at = 0;
  }
  for (; at < to; at++) {
    const { from, to: other, what } = steps[at]!;
    if (from === other) lanes.mark(from, what);
    else lanes.arrow(from, other, what);
  }
  const now = steps[at - 1];
  const printed = steps.slice(0, at).flatMap(({ what }) => (what.startsWith("print ") ? [what.slice(6)] : []));
  element("position").textContent = `step ${at} of ${steps.length}`;
  element("running").textContent = now?.running.join(" > ") ?? "-";
  element("saved").textContent = now?.saved.join(", ") || "-";
  element("printed").textContent = printed.join(", ") || "-";
  button("first").disabled = button("back").disabled = at === 0;
  button("last").disabled = button("forward").disabled = at === steps.length;
}

const moves: { [id: string]: () => number } = {
  first: () => 0,
  back: () => at - 1,
  forward: () => at + 1,
  last: () => shown!.steps.length,
};
for (const [id, target] of Object.entries(moves)) {
  button(id).addEventListener("click", () => {
    clearInterval(playing);
    go(target());
  });
}
element("lanes").addEventListener("keydown", (event) => {
  const key = { Home: "first", ArrowLeft: "back", ArrowRight: "forward", End: "last" }[event.key];
  if (!key || !shown) return;
  event.preventDefault();
  clearInterval(playing);
  go(moves[key]!());
});

/** The engine's name and version, as far as it tells. */
function engine(): string {
  const { userAgent } = navigator;
  const found = /(Firefox|Edg|Chrome|HeadlessChrome|Version)\/(\d+(?:\.\d+)?)/.exec(userAgent);
  const names: { [part: string]: string } = { Version: "Safari", Edg: "Edge", HeadlessChrome: "Chrome" };
  return found ? `${names[found[1]!] ?? found[1]} ${found[2]}` : "not known";
}

begin().catch((error: unknown) => say(error instanceof Error ? error.message : String(error), true));
