/** The patience before any call has completed, and the least afterwards. RFC 6298 uses the same figure. */
const LEAST_PATIENCE_MS = 1_000;
const MEAN_WEIGHT = 1 / 8;
const DEVIATION_WEIGHT = 1 / 4;

/** The usual duration of calls of one kind, and the time after which a call is slow. Source: RFC 6298. */
export class UsualTime {
  #mean: number | undefined;
  #deviation = 0;

  /** The time after which a call is slow, in milliseconds. */
  get patienceMs(): number {
    return this.#mean === undefined
      ? LEAST_PATIENCE_MS
      : Math.max(LEAST_PATIENCE_MS, 2 * this.#mean, this.#mean + 4 * this.#deviation);
  }

  /** Adds a duration. It counts as at most twice the patience, so that one slow call does not make slow calls usual. */
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
