/** Before anything is known, and the least; that of RFC 6298, which has the same question. */
const LEAST_PATIENCE_MS = 1_000;
const MEAN_WEIGHT = 1 / 8;
const DEVIATION_WEIGHT = 1 / 4;

/** What calls of one kind usually take, and from when on one takes unusually long. Source: RFC 6298. */
export class UsualTime {
  #mean: number | undefined;
  #deviation = 0;

  /** Milliseconds. */
  get patienceMs(): number {
    return this.#mean === undefined
      ? LEAST_PATIENCE_MS
      : Math.max(LEAST_PATIENCE_MS, 2 * this.#mean, this.#mean + 4 * this.#deviation);
  }

  /** One that took far too long counts as twice as long as is usual at most: it must not make the next ones usual. */
  add(ms: number): void {
    const sample = Math.min(ms, 2 * this.patienceMs);
    if (this.#mean === undefined) {
      this.#mean = sample;
      this.#deviation = sample / 2;
      return;
    }
    this.#deviation += DEVIATION_WEIGHT * (Math.abs(sample - this.#mean) - this.#deviation);
    this.#mean += MEAN_WEIGHT * (sample - this.#mean);
  }
}
