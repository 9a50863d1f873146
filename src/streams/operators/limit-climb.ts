/** The durations of calls that began under one limit. */
export interface LimitWindow {
  readonly limit: number;
  readonly kinds: ReadonlyMap<string, { readonly count: number; readonly totalMs: number }>;
}

/** The limit before any call has completed. */
const FIRST_LIMIT = 4;
/** The factors of the largest and the smallest step. A step that raised the throughput is followed by a larger one, any other by a smaller one. */
const LONGEST_STRIDE = 2;
const SHORTEST_STRIDE = 2 ** 0.25;
/** The gain that a higher limit needs: a limit of 2^8 times the size needs twice the throughput. */
const ELASTICITY = 1 / 8;
/** The number of completed calls after which a limit is judged: two for each slot, and at least eight. */
const SAMPLES_PER_SLOT = 2;
const LEAST_SAMPLES = 8;

/**
 * Finds the number of calls at a time with the highest throughput. By Little's law the throughput is the limit divided by the mean
 * latency. Each limit is compared with the one before it, kind by kind. The limit doubles while that raises the throughput, and
 * then changes by smaller steps up and down, so that it follows an optimum that moves. Of two limits with the same throughput it
 * takes the lower.
 */
export class LimitClimb {
  #stride = LONGEST_STRIDE;
  #direction: 1 | -1 = 1;
  /** The window that the current one is compared with; undefined while the current window is such a base itself. */
  #base: LimitWindow | undefined;
  #window = new OpenWindow(FIRST_LIMIT);

  get limit(): number {
    return this.#window.limit;
  }

  /** The window of the calls that begin now. */
  get window(): LimitWindow {
    return this.#window;
  }

  /** Adds the duration of a call that began in `window` and ended while all slots were taken. Calls of earlier windows are ignored. */
  add(window: LimitWindow, kind: string, ms: number): void {
    if (window !== this.#window) return;
    this.#window.add(kind, ms);
    if (this.#window.count % Math.max(LEAST_SAMPLES, SAMPLES_PER_SLOT * this.limit) === 0) this.#conclude();
  }

  #conclude(): void {
    const here = this.#window;
    if (!this.#base) return this.#tryNext(here);
    const gain = throughputGain(this.#base, here);
    if (gain !== undefined && gain >= (here.limit / this.#base.limit) ** ELASTICITY) {
      this.#stride = Math.min(LONGEST_STRIDE, this.#stride ** 2);
      return this.#tryNext(here);
    }
    // Back to the base, which is measured again before the next step, in the other direction.
    this.#window = new OpenWindow(this.#base.limit);
    this.#base = undefined;
    this.#stride = Math.max(SHORTEST_STRIDE, Math.sqrt(this.#stride));
    this.#direction = this.#direction === 1 ? -1 : 1;
  }

  #tryNext(base: LimitWindow): void {
    const { limit } = base;
    if (limit === 1) this.#direction = 1;
    const next =
      this.#direction === 1
        ? Math.max(limit + 1, Math.round(limit * this.#stride))
        : Math.min(limit - 1, Math.round(limit / this.#stride));
    this.#base = base;
    this.#window = new OpenWindow(next);
  }
}

class OpenWindow implements LimitWindow {
  readonly kinds = new Map<string, { count: number; totalMs: number }>();
  count = 0;

  constructor(readonly limit: number) {}

  add(kind: string, ms: number): void {
    const { count, totalMs } = this.kinds.get(kind) ?? { count: 0, totalMs: 0 };
    this.kinds.set(kind, { count: count + 1, totalMs: totalMs + ms });
    this.count += 1;
  }
}

/** The throughput of `here` relative to `base`, from the kinds of calls that both measured; undefined if there are none. */
const throughputGain = (base: LimitWindow, here: LimitWindow): number | undefined => {
  let [baseMs, hereMs] = [0, 0];
  for (const [kind, { count, totalMs }] of here.kinds) {
    const before = base.kinds.get(kind);
    if (!before) continue;
    baseMs += (count * before.totalMs) / before.count;
    hereMs += totalMs;
  }
  return hereMs > 0 ? (here.limit / base.limit) * (baseMs / hereMs) : undefined;
};
