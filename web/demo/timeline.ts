// The timeline: the visible part of a run, and how the visitor moves in it. painter.ts paints the bars on one canvas. A
// second canvas above it shows the time grid, the mark of the chosen lane and, if lanes are high enough, words.

import { darkScheme, element, reducedMotion } from "./page.js";
import { Painter } from "./painter.js";
import { palette } from "./palette.js";
import { isLive, stateNames } from "./recording.js";
import type { Run } from "./run.js";

const HIGHEST = 22; // CSS pixels of the highest lane
const WORDS = 13; // the least height of a lane that has room for words
const STEP = 1.6; // factor of a zoom button

const invitation = matchMedia("(hover: none)").matches
  ? "Tap a lane to see its fiber."
  : "Point at a lane to see its fiber; click it to cancel it.";

export class Timeline {
  readonly #scroller = element("scroller");
  readonly #spacer = element("spacer");
  readonly #axis = element("axis");
  readonly #readout = element("readout");
  readonly #cancelOne = element<HTMLButtonElement>("cancel-one");
  readonly #marks = element<HTMLCanvasElement>("marks").getContext("2d")!;
  readonly #painter = new Painter(element<HTMLCanvasElement>("bars").getContext("2d")!);

  #run: Run | undefined;
  #palette = palette();
  #span = 1000; // milliseconds from the left edge to the right
  #zoom = 1; // factor on the height at which all lanes fit
  #chosen = -1; // lane
  #lastPaint = 0;
  #marksOld = true;

  constructor() {
    new ResizeObserver(() => this.#restart()).observe(this.#scroller);
    darkScheme.addEventListener("change", () => {
      this.#palette = palette();
      this.#restart();
    });
    this.#scroller.addEventListener("scroll", () => this.#restart());
    this.#listen();
  }

  /** Shows a new run. `guess` is how long it will take, in milliseconds. */
  show(run: Run, guess: number): void {
    this.#run = run;
    this.#span = guess;
    this.#chosen = -1;
    this.#zoom = 1;
    this.#scroller.style.height = `min(var(--timeline), ${Math.max(3, run.record.size) * HIGHEST}px)`;
    this.#scroller.scrollTop = 0;
    this.#restart();
  }

  /** Paints what has happened since the last call. Call it once a frame. */
  frame(): void {
    const run = this.#run;
    if (!run) return;
    const now = performance.now();
    if (reducedMotion.matches && run.end === undefined && now - this.#lastPaint < 500) return;
    this.#lastPaint = now;
    if (run.end === undefined && run.elapsed > this.#span) {
      this.#span *= 1.5;
      this.#restart();
      return;
    }
    this.#painter.paint(run.end === undefined ? now : Infinity);
    if (this.#marksOld || this.#lane >= WORDS) this.#mark();
    this.#tell();
  }

  /** Fits the scale to `elapsed` milliseconds, with room at the right to show how the last lanes ended. */
  fit(elapsed: number): void {
    this.#span = Math.max(1, elapsed * 1.04);
    this.#restart();
  }

  /** The milliseconds from the left edge to the right. */
  get span(): number {
    return this.#span;
  }

  get #fit(): number {
    return Math.min(HIGHEST, this.#scroller.clientHeight / this.#run!.record.size);
  }

  /** The height of a lane in CSS pixels. */
  get #lane(): number {
    return Math.min(HIGHEST, this.#fit * this.#zoom);
  }

  #restart(): void {
    const run = this.#run;
    if (!run) return;
    const ratio = devicePixelRatio;
    const lane = this.#lane;
    this.#spacer.style.height = `${lane * run.record.size}px`;
    const { clientWidth, clientHeight, scrollTop } = this.#scroller;
    const width = Math.max(1, Math.round(clientWidth * ratio));
    const height = Math.max(1, Math.round(clientHeight * ratio));
    this.#painter.begin(
      run.record,
      {
        width,
        height,
        lane: lane * ratio,
        top: scrollTop * ratio,
        start: run.start,
        span: this.#span,
        fine: ratio < 1.5,
      },
      this.#palette,
    );
    this.#marks.canvas.width = width;
    this.#marks.canvas.height = height;
    this.#marksOld = true;
    this.#scale();
    this.frame();
  }

  // --- the time scale

  #ticks(): number[] {
    const rough = this.#span / Math.max(2, this.#scroller.clientWidth / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough)!;
    return Array.from({ length: Math.floor(this.#span / step) + 1 }, (_, i) => i * step);
  }

  #scale(): void {
    const ticks = this.#ticks();
    const inSeconds = this.#span >= 2000;
    const { offsetWidth, clientWidth } = this.#scroller;
    this.#axis.style.width = `${(clientWidth / offsetWidth) * 100}%`; // without the scroll bar
    this.#axis.replaceChildren(
      ...ticks
        .filter((ms) => ms < this.#span * 0.96)
        .map((ms) => {
          const tick = document.createElement("span");
          tick.textContent = inSeconds ? `${+(ms / 1000).toFixed(2)} s` : `${+ms.toFixed(1)} ms`;
          tick.style.left = `${(ms / this.#span) * 100}%`;
          return tick;
        }),
    );
  }

  // --- the marks above the bars

  #mark(): void {
    this.#marksOld = false;
    const run = this.#run!;
    const marks = this.#marks;
    const ratio = devicePixelRatio;
    const { clientWidth: width, clientHeight: height, scrollTop } = this.#scroller;
    const style = getComputedStyle(this.#scroller);
    const x = (time: number) => ((time - run.start) / this.#span) * width;
    marks.setTransform(ratio, 0, 0, ratio, 0, 0);
    marks.clearRect(0, 0, width, height);
    marks.fillStyle = style.getPropertyValue("--grid");
    for (const ms of this.#ticks().slice(1)) marks.fillRect(Math.round((ms / this.#span) * width), 0, 1, height);

    const lane = this.#lane;
    const { now, since, size } = run.record;
    if (lane >= WORDS) {
      marks.font = `11px ${style.fontFamily}`;
      marks.textBaseline = "middle";
      marks.lineWidth = 3;
      marks.lineJoin = "round";
      marks.strokeStyle = style.getPropertyValue("--panel");
      marks.fillStyle = style.getPropertyValue("--ink");
      const last = Math.min(size, Math.ceil((scrollTop + height) / lane));
      for (let i = Math.floor(scrollTop / lane); i < last; i++) {
        const y = (i + 0.5) * lane - scrollTop;
        const word = (text: string, x: number) => {
          marks.strokeText(text, x, y);
          marks.fillText(text, x, y);
        };
        word(`item ${i}`, 6);
        if (now[i]! > 0 && !isLive(now[i]!)) word(stateNames[now[i]!]!, Math.min(x(since[i]!) + 6, width - 60));
      }
    }
    if (this.#chosen >= 0) {
      const thick = Math.max(lane, 5);
      marks.strokeStyle = style.getPropertyValue("--ink");
      marks.lineWidth = 1.5;
      marks.strokeRect(1, (this.#chosen + 0.5) * lane - scrollTop - thick / 2, width - 2, thick);
    }
  }

  // --- the chosen lane

  #choose(lane: number): void {
    const { size } = this.#run!.record;
    this.#chosen = Math.max(-1, Math.min(size - 1, lane));
    this.#marksOld = true;
    this.frame();
  }

  /** Describes the chosen lane. */
  #tell(): void {
    const run = this.#run!;
    const i = this.#chosen;
    const { now, since } = run.record;
    const live = i >= 0 && isLive(now[i]!);
    this.#cancelOne.hidden = !live;
    const text =
      i < 0
        ? invitation
        : `item ${i}: ${stateNames[now[i]!]} ${live ? "since" : "after"} ` +
          `${Math.round(since[i]! - run.start).toLocaleString("en")} ms`;
    if (this.#readout.textContent !== text) this.#readout.textContent = text;
  }

  #cancelChosen(): void {
    if (this.#chosen >= 0) this.#run!.cancel(this.#chosen);
  }

  #laneAt(event: PointerEvent): number {
    const { top } = this.#scroller.getBoundingClientRect();
    const lane = Math.floor((event.clientY - top + this.#scroller.scrollTop) / this.#lane);
    return lane < this.#run!.record.size ? lane : -1;
  }

  #zoomTo(zoom: number, y = this.#scroller.clientHeight / 2): void {
    if (!this.#run) return;
    const before = this.#lane;
    this.#zoom = Math.max(1, Math.min(zoom, HIGHEST / this.#fit));
    const scroller = this.#scroller;
    const lane = (scroller.scrollTop + y) / before;
    this.#spacer.style.height = `${this.#lane * this.#run.record.size}px`;
    scroller.scrollTop = lane * this.#lane - y;
    this.#restart();
  }

  #listen(): void {
    const scroller = this.#scroller;
    element("zoom-in").addEventListener("click", () => this.#zoomTo(this.#zoom * STEP));
    element("zoom-out").addEventListener("click", () => this.#zoomTo(this.#zoom / STEP));
    element("zoom-fit").addEventListener("click", () => this.#zoomTo(1));
    this.#cancelOne.addEventListener("click", () => this.#cancelChosen());
    scroller.addEventListener(
      "pointermove",
      (event) => this.#run && event.pointerType === "mouse" && this.#choose(this.#laneAt(event)),
    );
    scroller.addEventListener(
      "pointerleave",
      (event) => this.#run && event.pointerType === "mouse" && this.#choose(-1),
    );
    scroller.addEventListener("click", (event) => {
      if (!this.#run) return;
      this.#choose(this.#laneAt(event as PointerEvent));
      // A finger covers many lanes: it chooses, and the button cancels.
      if ((event as PointerEvent).pointerType !== "touch") this.#cancelChosen();
    });
    scroller.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey || !this.#run) return;
        event.preventDefault();
        this.#zoomTo(this.#zoom * Math.exp(-event.deltaY / 200), event.clientY - scroller.getBoundingClientRect().top);
      },
      { passive: false },
    );
    scroller.addEventListener("keydown", (event) => {
      if (!this.#run || event.ctrlKey || event.metaKey || event.altKey) return;
      const page = Math.max(1, Math.floor(scroller.clientHeight / this.#lane / 10));
      const { size } = this.#run.record;
      const keys: { [key: string]: () => void } = {
        ArrowDown: () => this.#walk(this.#chosen + 1),
        ArrowUp: () => this.#walk(this.#chosen - 1),
        PageDown: () => this.#walk(this.#chosen + page),
        PageUp: () => this.#walk(this.#chosen - page),
        Home: () => this.#walk(0),
        End: () => this.#walk(size - 1),
        Enter: () => this.#cancelChosen(),
        Delete: () => this.#cancelChosen(),
        Escape: () => this.#choose(-1),
        "+": () => this.#zoomTo(this.#zoom * STEP),
        "-": () => this.#zoomTo(this.#zoom / STEP),
        "0": () => this.#zoomTo(1),
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  /** Chooses a lane by keyboard and keeps it in view. */
  #walk(lane: number): void {
    this.#choose(Math.max(0, lane));
    const top = this.#chosen * this.#lane;
    const scroller = this.#scroller;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + this.#lane > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = top + this.#lane - scroller.clientHeight;
  }
}
