// Paints a recording into pixels from left to right, column by column, like the pen of a chart recorder. A column is
// painted when its time has passed, and never again unless the scale changes. So a frame costs a few columns, with ten
// fibers or with ten thousand. A state that a lane had for only part of a column may fill it, so that short states show
// (recording.ts says which one wins).
//
// If a row of pixels holds several lanes, it has the mean of their colours. Lanes that failed or were cancelled count
// several times, so that they are not lost.

import { CANCELLED, Recording } from "./recording.js";

/** Which part of the recording is painted, and where; in device pixels and milliseconds. */
export interface Layout {
  width: number;
  height: number;
  lane: number; // height of a lane; may be less than one
  top: number; // pixels scrolled away above the first row
  start: number; // performance.now() at the left edge
  span: number; // ms from there to the right edge
  fine: boolean; // patterns of single device pixels rather than of two by two
}

export class Painter {
  #image = new ImageData(1, 1);
  #pixels = new Uint32Array(1);
  #layout!: Layout;
  #palette: Uint32Array = new Uint32Array(0);
  #recording = new Recording(0);
  #from = new Int32Array(0); // first lane of each row; -1: a gap between lanes
  #to = new Int32Array(0); // one past the last lane of each row
  #state = new Uint8Array(0); // of each lane at the end of the column before
  #shown = new Uint8Array(0); // of each lane in the column being painted
  #cursor = 0; // how much of the recording has been read
  #x = 0; // columns painted

  constructor(readonly context: CanvasRenderingContext2D) {}

  /** Starts over. Nothing is painted until {@link paint}. */
  begin(recording: Recording, layout: Layout, palette: Uint32Array): void {
    const { width, height, lane, top } = layout;
    this.#recording = recording;
    this.#layout = layout;
    this.#palette = palette;
    const { canvas } = this.context;
    if (this.#image.width !== width || this.#image.height !== height) {
      canvas.width = width;
      canvas.height = height;
      this.#image = new ImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
      this.#from = new Int32Array(height);
      this.#to = new Int32Array(height);
    } else {
      this.#pixels.fill(0);
      this.context.clearRect(0, 0, width, height);
    }
    const gap = lane >= 10 ? 2 : lane >= 4 ? 1 : 0;
    for (let y = 0; y < height; y++) {
      const from = Math.floor((top + y) / lane);
      const to = Math.max(from + 1, Math.floor((top + y + 1) / lane));
      const blank = from >= recording.size || (gap > 0 && Math.floor((top + y + gap) / lane) > from);
      this.#from[y] = blank ? -1 : from;
      this.#to[y] = Math.min(to, recording.size);
    }
    this.#state = new Uint8Array(recording.size);
    this.#shown = new Uint8Array(recording.size);
    this.#cursor = 0;
    this.#x = 0;
  }

  /** Paints the columns that have ended at `time`. */
  paint(time: number): void {
    const { width, height, start, span } = this.#layout;
    const { lanes, states, times, length } = this.#recording;
    const target = Math.min(width, Math.floor(((time - start) / span) * width));
    const first = this.#x;
    if (target <= first) return;
    const shown = this.#shown;
    const state = this.#state;
    let cursor = this.#cursor;
    for (let x = first; x < target; x++) {
      const before = cursor;
      const end = start + ((x + 1) / width) * span;
      for (; cursor < length && times[cursor]! < end; cursor++) {
        const lane = lanes[cursor]!;
        const entered = states[cursor]!;
        state[lane] = entered;
        if (entered > shown[lane]!) shown[lane] = entered;
      }
      this.#column(x);
      for (let i = before; i < cursor; i++) shown[lanes[i]!] = state[lanes[i]!]!;
    }
    this.#cursor = cursor;
    this.#x = target;
    this.context.putImageData(this.#image, 0, 0, first, 0, target - first, height);
  }

  #column(x: number): void {
    const { width, height, fine } = this.#layout;
    const shift = fine ? 0 : 1;
    const column = (x >> shift) & 7;
    const from = this.#from;
    const to = this.#to;
    const shown = this.#shown;
    const colours = this.#palette;
    const pixels = this.#pixels;
    for (let y = 0, at = x; y < height; y++, at += width) {
      const lane = from[y]!;
      if (lane < 0) continue;
      const pattern = (((y >> shift) & 7) << 3) | column;
      const behind = to[y]!;
      let pixel = colours[(shown[lane]! << 6) | pattern]!;
      if (behind > lane + 1) pixel = this.#mean(lane, behind, pattern);
      pixels[at] = pixel;
    }
  }

  #mean(from: number, to: number, pattern: number): number {
    let r = 0;
    let g = 0;
    let b = 0;
    let n = 0;
    for (let lane = from; lane < to; lane++) {
      const state = this.#shown[lane]!;
      const pixel = this.#palette[(state << 6) | pattern]!;
      const weight = state >= CANCELLED ? 5 : 1;
      n += weight;
      r += (pixel & 255) * weight;
      g += ((pixel >> 8) & 255) * weight;
      b += ((pixel >> 16) & 255) * weight;
    }
    return (255 << 24) | ((b / n) << 16) | ((g / n) << 8) | (r / n);
  }
}
