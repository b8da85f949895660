// What trace() draws. The script tag loads this on demand.

import type { Fiber } from "./fiber.js";
import type { observe as Observe, whenSettled as WhenSettled } from "../turn/observe.js";

type Color = "tertiary-light" | "primary-dark" | "secondary-light" | "secondary";
type TimeStamp = (label: string, start: number, end: number, track: string, group: string, color: Color) => void;

const colors: Record<string, Color> = {
  queued: "tertiary-light",
  running: "primary-dark",
  waiting: "secondary-light",
  ready: "secondary",
};

/** How many fibers are shown at once. The panel is slow with many tracks, and nobody reads them. */
const LANES = 100;

interface Lane {
  readonly track: string;
  state: string;
  label: string;
  since: number;
}

/** A fiber draws on a lane from its first state to its last; then the lane is free for another fiber. */
class Lanes {
  readonly #of = new Map<Fiber, Lane>();
  readonly #free = Array.from({ length: LANES }, (_, n) => `fiber ${LANES - n}`);
  readonly #stamp = console.timeStamp as unknown as TimeStamp;

  /** The fiber has entered a state, or its wait has been settled: it is ready. */
  enter(fiber: Fiber, state: string, since: number): void {
    let lane = this.#of.get(fiber);
    const ended = state === "done" || state === "failed" || state === "cancelled";
    if (lane) {
      this.#stamp.call(console, lane.label, lane.since, since, lane.track, "fiberfill", colors[lane.state]!);
      if (ended) {
        this.#of.delete(fiber);
        this.#free.push(lane.track);
        return;
      }
    } else {
      const track = this.#free.length > 0 && !ended && this.#free.pop();
      if (!track) return;
      this.#of.set(fiber, (lane = { track, state, label: "", since }));
    }
    const what = state === "waiting" ? `waiting: ${fiber.waitsFor}` : state;
    lane.state = state;
    lane.since = since;
    lane.label = `${fiber.name} ${state === "ready" ? `ready: ${fiber.waitsFor} has settled` : what}`;
  }
}

let draws = 0;
let stop: () => void;

/** Begins to draw. Returns a function that stops this. Fibers are drawn once even if drawing has begun twice. */
export function draw(observe: typeof Observe, whenSettled: typeof WhenSettled): () => void {
  if (draws++ === 0) {
    const lanes = new Lanes();
    const end = observe((fiber) => lanes.enter(fiber, fiber.state, fiber.since));
    whenSettled((fiber) => lanes.enter(fiber, "ready", performance.now()));
    stop = () => {
      end();
      whenSettled(undefined);
    };
  }
  return () => {
    if (--draws === 0) stop();
  };
}
