// How long each request took by itself, as the browser measured it: from the moment it went out to the last byte of its
// answer. The time that it waited inside fetch for a free connection does not count: one after another, none would
// wait.

export class Wire {
  /** The sum over all requests, in milliseconds: how long they would have taken one after another. */
  sum = 0;
  /** How many answers have been measured. The browser reports each a little after the answer. */
  count = 0;
  #wanted = Infinity;
  #told!: () => void;
  readonly #observer: PerformanceObserver;

  /** Measures the requests whose address has this text. */
  constructor(mark: string) {
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as PerformanceResourceTiming[]) {
        // Skip other requests, and those cancelled before their answer.
        if (!entry.name.endsWith(mark) || entry.responseStart === 0) continue;
        this.sum += entry.responseEnd - entry.requestStart;
        this.count++;
      }
      if (this.count >= this.#wanted) this.#told();
    });
    this.#observer.observe({ type: "resource" });
  }

  /** Resolves when this many answers have been measured: all that there will be. */
  async all(wanted: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wanted = wanted;
      this.#told = resolve;
      if (this.count >= wanted) resolve();
    });
    this.close();
  }

  close(): void {
    this.#observer.disconnect();
    performance.clearResourceTimings();
  }
}
