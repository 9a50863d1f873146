import type { SignalObservations } from '../../../model/eviction/figures.js';
import type { Threshold } from '../../../model/eviction/thresholds.js';

/** A threshold as the measurements of the agent have shown it. Virtual milliseconds. */
interface MetThreshold {
  readonly threshold: Threshold;
  /** When it was first met, in a time in which not more than its minimum reclaim was ever available. */
  readonly since: number | undefined;
  readonly lastMetAt: number | undefined;
}

/** The thresholds of a node in one life of its agent. */
export class MetThresholds {
  #all: readonly MetThreshold[];

  constructor(thresholds: readonly Threshold[]) {
    this.#all = thresholds.map((threshold) => ({ threshold, since: undefined, lastMetAt: undefined }));
  }

  measured(observations: SignalObservations, at: number): void {
    this.#all = this.#all.map(({ threshold, since, lastMetAt }) => {
      const { signal, value, minReclaim } = threshold;
      const observation = observations[signal];
      if (!observation) return { threshold, since: undefined, lastMetAt };
      const units = (of: Threshold['value']): number =>
        'share' in of ? Math.trunc(of.share * observation.capacity) : of.amount;
      if (observation.available < units(value)) return { threshold, since: since ?? at, lastMetAt: at };
      const isHeld = minReclaim && observation.available < units(value) + units(minReclaim);
      return {
        threshold,
        since: isHeld ? since : undefined,
        lastMetAt: isHeld && since !== undefined ? at : lastMetAt,
      };
    });
  }

  /** Those that have been met for their grace period by then. */
  due(at: number): readonly Threshold[] {
    return this.#all
      .filter(({ threshold, since }) => since !== undefined && at - since >= threshold.gracePeriodMs)
      .map(({ threshold }) => threshold);
  }

  /** Since when a hard threshold has been met without a break; undefined if none is. */
  get hardSince(): number | undefined {
    const times = this.#all.flatMap(({ threshold, since }) => (threshold.gracePeriodMs === 0 ? (since ?? []) : []));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** When a threshold was last met; undefined if none was. */
  get lastMetAt(): number | undefined {
    const times = this.#all.flatMap(({ lastMetAt }) => lastMetAt ?? []);
    return times.length === 0 ? undefined : Math.max(...times);
  }
}
