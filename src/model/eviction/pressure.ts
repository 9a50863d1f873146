import type { NodePressure } from '../node/node-conditions.js';
import type { SignalObservations } from './figures.js';
import { type EvictionSignal, SIGNALS } from './signals.js';
import { amountOf, type Threshold } from './thresholds.js';

/** Whether less than the threshold is available; with `reclaims`, less than the threshold and its minimum reclaim. Unknown signals meet none. */
export const isMet = (
  { signal, value, minReclaim }: Threshold,
  observations: SignalObservations,
  { reclaims }: { readonly reclaims: boolean },
): boolean => {
  const observation = observations[signal];
  if (!observation) return false;
  const { available, capacity } = observation;
  const more = reclaims && minReclaim ? amountOf(minReclaim, capacity) : 0;
  return available < amountOf(value, capacity) + more;
};

/** What the next check of a node needs to know of the ones before. Times are the scheduler's milliseconds. */
export interface PressureMemory {
  /** Since when each threshold is met without a break. */
  readonly metSince: ReadonlyMap<Threshold, number>;
  /** When a threshold of each condition was last met. */
  readonly lastMet: ReadonlyMap<keyof NodePressure, number>;
  /** The thresholds that were met for their grace period at the last check. */
  readonly satisfied: readonly Threshold[];
  /** The times of the last observations, in Unix milliseconds. */
  readonly observedAt: ReadonlyMap<EvictionSignal, number>;
}

export const NO_PRESSURE_MEMORY: PressureMemory = {
  metSince: new Map(),
  lastMet: new Map(),
  satisfied: [],
  observedAt: new Map(),
};

export interface PressureCheck {
  readonly thresholds: readonly Threshold[];
  readonly observations: SignalObservations;
  readonly now: number;
  /** A condition stays for this time after its last threshold was met, in milliseconds. */
  readonly transitionMs: number;
}

export interface PressureVerdict {
  readonly memory: PressureMemory;
  /** The conditions of the node. A soft threshold counts from its first moment. */
  readonly pressure: NodePressure;
  /** The thresholds for which something has to be done now. */
  readonly due: readonly Threshold[];
}

/**
 * Judges one check of the node. A threshold that was due before stays met until its minimum reclaim is available, too. One whose signal has
 * not been observed since is not due again.
 *
 * Source: pkg/kubelet/eviction/eviction_manager.go synchronize
 */
export const judgePressure = (
  before: PressureMemory,
  { thresholds, observations, now, transitionMs }: PressureCheck,
): PressureVerdict => {
  const met = thresholds.filter(
    (threshold) =>
      isMet(threshold, observations, { reclaims: false }) ||
      (before.satisfied.includes(threshold) && isMet(threshold, observations, { reclaims: true })),
  );
  const metSince = new Map(met.map((threshold) => [threshold, before.metSince.get(threshold) ?? now]));
  const lastMet = new Map([...before.lastMet, ...met.map(({ signal }) => [SIGNALS[signal].pressure, now] as const)]);
  const isUnderPressure = (kind: keyof NodePressure): boolean => {
    const at = lastMet.get(kind);
    return at !== undefined && (at === now || now - at < transitionMs);
  };
  const satisfied = met.filter((threshold) => now - (metSince.get(threshold) ?? now) >= threshold.gracePeriodMs);
  const observedAt = new Map(
    Object.entries(observations).map(([signal, { timeMs }]) => [signal as EvictionSignal, timeMs] as const),
  );
  return {
    memory: { metSince, lastMet, satisfied, observedAt },
    pressure: {
      memory: isUnderPressure('memory'),
      disk: isUnderPressure('disk'),
      pid: isUnderPressure('pid'),
    },
    due: satisfied.filter(({ signal }) => isOther(observedAt.get(signal), before.observedAt.get(signal))),
  };
};

/** Not a later one: the clock of the node may have been set back. */
const isOther = (at: number | undefined, before: number | undefined): boolean => at !== undefined && at !== before;
