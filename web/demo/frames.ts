// The frames of a run: calls a painter once a frame, and measures how evenly the frames come.

export class Frames {
  /** Frames per second: over the last second, and over the whole run once it has ended. */
  rate = 0;
  /** The longest time between two frames, in milliseconds. */
  longest = 0;
  #count = 0;
  #first = 0;
  #last = 0;
  #recent: number[] = [];
  #handle = 0;

  constructor(readonly paint: () => void) {
    this.#handle = requestAnimationFrame(this.#frame);
  }

  #frame = (): void => {
    const now = performance.now(); // the argument of a late frame may lie before the run
    if (this.#count === 0) this.#first = now;
    else this.longest = Math.max(this.longest, now - this.#last);
    this.#last = now;
    this.#count++;
    const recent = this.#recent;
    recent.push(now);
    while (recent[0]! < now - 1000) recent.shift();
    if (recent.length > 1) this.rate = ((recent.length - 1) * 1000) / (now - recent[0]!);
    this.#handle = requestAnimationFrame(this.#frame);
    this.paint();
  };

  end(): void {
    cancelAnimationFrame(this.#handle);
    if (this.#count > 1) this.rate = ((this.#count - 1) * 1000) / (this.#last - this.#first);
  }
}
