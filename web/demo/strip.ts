// The run on raw JSPI, below the timeline and on the same scale of time: all lanes at once, only to look at.

import { Painter } from "./painter.js";
import { palette } from "./palette.js";
import type { Run } from "./run.js";

export class Strip {
  readonly #painter: Painter;
  #span = 0;
  #size = "";
  #run: Run | undefined;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.#painter = new Painter(canvas.getContext("2d")!);
  }

  /** Shows a run, or none. */
  show(run: Run | undefined): void {
    this.#run = run;
    this.#span = 0;
    if (!run) this.canvas.getContext("2d")!.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  /** Paints everything anew. */
  repaint(span: number): void {
    this.#span = 0;
    this.frame(span);
  }

  /** Paints what has happened since the last call, or everything if the scale is another. */
  frame(span: number): void {
    const run = this.#run;
    if (!run) return;
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = devicePixelRatio;
    const [width, height] = [
      Math.max(1, Math.round(clientWidth * ratio)),
      Math.max(1, Math.round(clientHeight * ratio)),
    ];
    const size = `${width} ${height}`;
    if (span !== this.#span || size !== this.#size) {
      this.#span = span;
      this.#size = size;
      const lane = height / run.record.size;
      const layout = { width, height, lane, top: 0, start: run.start, span, fine: ratio < 1.5 };
      this.#painter.begin(run.record, layout, palette());
    }
    this.#painter.paint(run.end === undefined ? performance.now() : Infinity);
  }
}
