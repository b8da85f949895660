// The demo: reads the form, starts a run, and updates everything shown once a frame.

import { showCode } from "./code.js";
import { announce, say, showCounters } from "./counters.js";
import { Frames } from "./frames.js";
import { guest } from "./guests.js";
import { element } from "./page.js";
import { Run, type Settings } from "./run.js";
import "./scenarios.js";
import { Table } from "./table.js";
import { Timeline } from "./timeline.js";

const form = element<HTMLFormElement>("settings");
const startButton = element<HTMLButtonElement>("start");
const cancelButton = element<HTMLButtonElement>("cancel");
const timeline = new Timeline();
const table = new Table();
let run: Run | undefined;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  startButton.disabled = true;
  start().catch((error: unknown) => {
    say(error instanceof Error ? error.message : String(error));
    startButton.disabled = false;
  });
});
cancelButton.addEventListener("click", () => run?.cancel());

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

/** Runs what the form says until the last fiber has ended. Then dispatches "run-over" on the form. */
async function start(): Promise<void> {
  const chosen = settings();
  const loaded = await guest(chosen.guest);
  run?.close();
  document.body.classList.add("ran");
  const current = (run = new Run(loaded, chosen));
  // A browser keeps six connections to one host.
  timeline.show(current, (Math.ceil(chosen.fibers / 6) * chosen.latency + chosen.latency + 200) * 1.1);
  announce(current);
  cancelButton.disabled = false;
  let announced = 0;
  let listed = 0;
  const frames = new Frames(() => {
    timeline.frame();
    showCounters(current, frames);
    const now = performance.now();
    if (now - listed > 250) {
      listed = now;
      table.update();
    }
    if (now - announced > 5000) {
      announced = now;
      announce(current);
    }
  });

  await current.ended;
  frames.end();
  cancelButton.disabled = true;
  startButton.disabled = false;
  timeline.finish();
  showCounters(current, frames);
  table.update();
  announce(current);
  await current.measured;
  showCounters(current, frames);
  form.dispatchEvent(new Event("run-over"));
}

function choose(): void {
  const { guest: chosen } = settings();
  void showCode(chosen);
  guest(chosen).catch(() => {}); // load it now; if that fails, start says so
  document.body.classList.toggle("go", chosen === "go");
}
form.addEventListener("change", choose);
choose();
