// The section of the page that plays the programs of the documents. It reads its form, and shows the code, the events,
// and the results beside the expected ones.

import { excerpt } from "./code.js";
import { Lanes } from "./lanes.js";
import { element, reducedMotion } from "./page.js";
import { casesOf, type Case, type Check } from "./programs.js";

const PACE = 160; // ms between two events

const form = element<HTMLFormElement>("scenario-form");
const programs = form.elements.namedItem("scenario") as RadioNodeList;
const cases = element<HTMLSelectElement>("case");
const slowly = element<HTMLInputElement>("slowly");
const buttons = [element<HTMLButtonElement>("play"), element<HTMLButtonElement>("play-all")];
const rows = element<HTMLTableSectionElement>("checks");
const verdict = element("verdict");
let offered: Case[] = [];
let choosing: Promise<void>; // until the inputs of the chosen program are offered

slowly.checked = !reducedMotion.matches;

const chosen = (): Case => offered[cases.selectedIndex]!;

/** Offers the inputs of the chosen program, and selects one of them. */
async function choose(input = 0): Promise<void> {
  const id = programs.value;
  const list = await casesOf(id);
  if (id !== programs.value) return; // a later choice was faster
  offered = list;
  cases.replaceChildren(...list.map(({ name }) => new Option(name)));
  cases.selectedIndex = input;
  cases.disabled = list.length === 1;
  await show();
}

async function show(): Promise<void> {
  const {
    code: [file, part],
  } = chosen();
  element("scenario-file").textContent = file;
  element("scenario-code").textContent = await excerpt(file, part);
}

/** Plays a case and shows the results. Returns whether all were right. */
async function play(one: Case, title: string): Promise<boolean> {
  const pause = () => (slowly.checked ? new Promise<void>((resolve) => setTimeout(resolve, PACE)) : undefined);
  const failed = (error: unknown): Check[] => [{ what: "it runs", want: "yes", got: String(error), right: false }];
  const checks = await one.play(new Lanes(one.lanes), pause).catch(failed);
  const right = checks.every((check) => check.right);
  if (title !== "")
    rows
      .insertRow()
      .append(Object.assign(document.createElement("th"), { colSpan: 4, scope: "rowgroup", textContent: title }));
  checks.forEach(add);
  return right;
}

function add({ what, want, got, right }: Check): void {
  const row = rows.insertRow();
  row.className = right ? "right" : "wrong";
  for (const text of [what, want, got]) row.insertCell().textContent = text;
  row.insertCell().append(Object.assign(document.createElement("span"), { textContent: right ? "right" : "wrong" }));
}

/** Does what the visitor has asked for. Then dispatches "scenario-over" on the form. */
async function perform(work: () => Promise<string>): Promise<void> {
  buttons.forEach((button) => (button.disabled = true));
  rows.replaceChildren();
  verdict.className = "";
  verdict.textContent = "Playing.";
  try {
    const others = fiberfill.fibers().length;
    if (others > 0)
      throw new Error(
        "Fibers of the run above are still alive and would appear in the log: wait for them, or cancel them.",
      );
    verdict.textContent = await work();
  } catch (error) {
    verdict.textContent = error instanceof Error ? error.message : String(error);
  }
  verdict.className = verdict.textContent.startsWith("Right") ? "right" : "wrong";
  buttons.forEach((button) => (button.disabled = false));
  form.dispatchEvent(new Event("scenario-over"));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void perform(async () => {
    await choosing;
    return (await play(chosen(), ""))
      ? "Right: everything is as in the document."
      : "Wrong: not everything is as in the document.";
  });
});

element("play-all").addEventListener("click", () => {
  void perform(async () => {
    let [count, right] = [0, 0];
    for (const { value, parentElement } of form.querySelectorAll<HTMLInputElement>("[name=scenario]")) {
      for (const [input, one] of (await casesOf(value)).entries()) {
        programs.value = value;
        await (choosing = choose(input));
        count++;
        if (await play(one, `${parentElement!.textContent!.trim()}: ${one.name}`)) right++;
      }
    }
    return `${right === count ? "Right" : "Wrong"}: ${right} of ${count} are as in the documents.`;
  });
});

form.addEventListener("change", (event) => {
  if ((event.target as HTMLInputElement).name === "scenario") choosing = choose();
});
cases.addEventListener("change", () => void show());
choosing = choose();
