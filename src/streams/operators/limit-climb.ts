/** How long calls took that were begun under one limit. */
export interface LimitWindow {
  readonly limit: number;
  readonly kinds: ReadonlyMap<string, { readonly count: number; readonly totalMs: number }>;
}

/** Where nothing is known yet. */
const FIRST_LIMIT = 4;
/** A step that was worth it is followed by a bigger one, and one that was not by a smaller one. */
const LONGEST_STRIDE = 2;
const SHORTEST_STRIDE = 2 ** 0.25;
/** What more calls at a time have to bring, to be worth it: a limit of 2^8 times as much, twice the throughput. */
const ELASTICITY = 1 / 8;
/** What a limit is judged by: so many calls for each slot, and not fewer than the least. */
const SAMPLES_PER_SLOT = 2;
const LEAST_SAMPLES = 8;

/**
 * Looks for the limit of calls at a time at which most of them get done, by what they take: by Little's law the throughput is
 * the limit divided by the mean latency, and each limit is compared with the one tried right before it, kind by kind. It
 * doubles as long as that brings anything, and from then on tries smaller steps up and down by turns, so that it follows when the
 * optimum moves. Of two limits that do equally well it takes the lower.
 */
export class LimitClimb {
  #stride = LONGEST_STRIDE;
  #direction: 1 | -1 = 1;
  /** What the limit of the current window is compared with; undefined while it is that itself. */
  #base: LimitWindow | undefined;
  #window = new OpenWindow(FIRST_LIMIT);

  get limit(): number {
    return this.#window.limit;
  }

  /** Belongs to the calls that begin now. */
  get window(): LimitWindow {
    return this.#window;
  }

  /** A call that began in `window` took so long, while all slots were taken. Other windows than the current one are past. */
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
    // Back to where it came from, which has to be measured again before it is left the other way.
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

/** By how much more gets done here, judged by the calls that both have seen; undefined when there are none. */
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
