// What a run tells, as lanes and steps: a lane for each continuation, a step for each operation, and after each step
// which stacks there are.

import { savedFunctions } from "../../jsglue/src/lower/frames.js";
import type { Told } from "./instrument.js";

/** One operation: from one lane to another, or within one. */
export interface Step {
  from: number;
  to: number;
  what: string;
  running: string[]; // from the caller to the one that runs
  saved: string[]; // continuations that wait to be resumed, and where: by the functions whose frames are saved
}

export interface Recorded {
  lanes: string[];
  steps: Step[];
  output: string[];
}

const CALLER = 0;
const MOST = 2000;

export class Recorder implements Recorded {
  readonly lanes = ["caller"];
  readonly steps: Step[] = [];
  readonly output: string[] = [];
  readonly #saved = new Map<number, string>(); // lane, and where it stands
  readonly #held = new WeakMap<object, number[]>(); // the lanes of a continuation, from its base to its leaf
  #stack: { lane: number; switches: string[] }[] = [{ lane: CALLER, switches: [] }];
  #leaving = ""; // the suspension or switch that is under way
  #bound: number[] | undefined;
  #switched: number[] | undefined; // who has switched, until its continuation is seen

  /** The functions that the instrumented module imports. */
  imports(told: Told[]): { [name: string]: Function } {
    return Object.fromEntries(told.map((one, i) => [i, (...values: any[]) => this.#tell(one, values)]));
  }

  print(values: unknown[]): void {
    const text = values.join(" ");
    this.output.push(text);
    this.#step(this.#top, this.#top, `print ${text}`);
  }

  /** The run has ended in an error. */
  failed(message: string): void {
    const what = this.#leaving ? `${this.#leaving}: ${message}` : message;
    this.steps.push(this.#after(this.#top, this.#top, what));
  }

  get #top(): number {
    return this.#stack.at(-1)!.lane;
  }

  #after(from: number, to: number, what: string): Step {
    return { from, to, what, running: this.#stack.map(({ lane }) => this.lanes[lane]!), saved: this.#waiting() };
  }

  #waiting(): string[] {
    return [...this.#saved].map(([lane, where]) => `${this.lanes[lane]} (${where})`);
  }

  #step(from: number, to: number, what: string): void {
    if (this.steps.length >= MOST) throw new Error(`stopped after ${MOST.toLocaleString("en")} operations`);
    this.steps.push(this.#after(from, to, what));
  }

  #tell(told: Told, values: any[]): unknown {
    switch (told.op) {
      case "new":
        this.#new(values[0], told.name);
        return values[0];
      case "binding":
        this.#bound = this.#take(values[0]);
        return values[0];
      case "bound":
        if (this.#bound) this.#held.set(values[0], this.#bound);
        this.#step(this.#top, this.#top, "cont.bind");
        return values[0];
      case "arrived":
        this.#arrived(values[0]);
        return values[0];
      case "depth":
        return this.#stack.length;
      case "suspend":
        this.#leaving = words("suspend", told.tag, ...values);
        return several(values);
      case "resume":
      case "resume_throw":
        values.pop();
        this.#resume(told.switches, words(told.op, told.tag ?? "", ...values.slice(0, -1)), values.at(-1));
        return several(values);
      case "suspended":
        this.#suspended(values[0], values[1]);
        return values[0];
      case "returned": {
        const depth = values.pop();
        this.#ended(depth, words("return", ...values));
        return several(values);
      }
      case "threw":
        if (values[0] >= 0) this.#ended(values[0], "exception");
        return undefined;
      case "switch":
        this.#switch(told.tag, words("switch", told.tag, ...values.slice(0, -1)), values.at(-1));
        return several(values);
    }
  }

  #new(continuation: object, name: string): void {
    const same = this.lanes.filter((lane) => lane.split(" ")[0] === name).length;
    const lane = this.lanes.push(same > 0 ? `${name} ${same + 1}` : name) - 1;
    this.#held.set(continuation, [lane]);
    this.#saved.set(lane, "not begun");
    this.#step(this.#top, lane, "cont.new");
  }

  /** The lanes of a continuation that is used now; undefined if it is null or was used before. */
  #take(continuation: object | null): number[] | undefined {
    if (!continuation) return undefined;
    const lanes = this.#held.get(continuation);
    this.#held.delete(continuation);
    return lanes;
  }

  #enter(lanes: number[], switches: string[]): void {
    lanes.forEach((lane, i) => {
      this.#saved.delete(lane);
      this.#stack.push({ lane, switches: i === 0 ? switches : [] });
    });
  }

  #resume(switches: string[], what: string, continuation: object | null): void {
    const from = this.#top;
    const lanes = this.#take(continuation);
    if (!lanes) return this.#step(from, from, what); // which traps next
    this.#enter(lanes, switches);
    this.#step(from, this.#top, what);
  }

  #suspended(continuation: object, depth: number): void {
    const from = this.#top;
    const what = this.#leaving;
    this.#leaving = "";
    const lanes = this.#stack.splice(depth).map(({ lane }) => lane);
    for (const lane of lanes) this.#saved.set(lane, "resumes another");
    this.#saved.set(from, stands(continuation, what));
    this.#held.set(continuation, lanes);
    this.#step(from, this.#top, what);
  }

  #ended(depth: number, what: string): void {
    const from = this.#top;
    this.#stack.splice(depth);
    this.#step(from, this.#top, what);
  }

  #switch(tag: string, what: string, continuation: object | null): void {
    const from = this.#top;
    const handler = this.#stack.findLastIndex(({ switches }) => switches.includes(tag));
    const lanes = handler < 0 ? undefined : this.#take(continuation);
    this.#leaving = lanes ? "" : what;
    if (!lanes) return;
    const { switches } = this.#stack[handler]!;
    this.#switched = this.#stack.splice(handler).map(({ lane }) => lane);
    for (const lane of this.#switched) this.#saved.set(lane, lane === from ? what : "resumes another");
    this.#enter(lanes, switches);
    this.#step(from, this.#top, what);
  }

  #arrived(continuation: object | null): void {
    if (!continuation || !this.#switched || this.#held.has(continuation)) return;
    this.#held.set(continuation, this.#switched);
    const leaf = this.#switched.at(-1)!;
    this.#saved.set(leaf, stands(continuation, this.#saved.get(leaf)!));
    this.steps.at(-1)!.saved = this.#waiting(); // the switch: its frames are known only now
    this.#switched = undefined;
  }
}

/** Where a continuation stands: its functions, from the base on, if the engine names them, and its last operation. */
function stands(continuation: object, what: string): string {
  const functions = savedFunctions(continuation)?.reverse();
  return functions ? `${functions.join(" > ")}: ${what}` : what;
}

/** What an imported function returns: nothing, a value, or several. */
const several = (values: unknown[]): unknown => (values.length > 1 ? values : values[0]);

const words = (...parts: unknown[]): string =>
  parts
    .map((part) => String(part).replace(/^\$/, ""))
    .filter(Boolean)
    .join(" ");
