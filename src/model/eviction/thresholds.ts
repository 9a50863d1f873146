import { parseQuantity, type QuantityFormat, formatOf, quantity, unitValue } from '../resources/quantity.js';
import { type DiskLayout, type EvictionSignal, isSignal, SIGNALS } from './signals.js';

/** An amount of the resource of a signal: bytes, inodes or processes, or a share of its capacity. */
export type ThresholdValue =
  | { readonly amount: number; readonly format: QuantityFormat }
  /** 0 to 1, in the single precision of the kubelet. */
  | { readonly share: number };

/** The node is short of the resource of the signal while less than the value is available. */
export interface Threshold {
  readonly signal: EvictionSignal;
  readonly value: ThresholdValue;
  /** How long it is met before pods are evicted, in milliseconds; 0 for a hard threshold. */
  readonly gracePeriodMs: number;
  /** A shortage ends only once this much more than the value is available. */
  readonly minReclaim?: ThresholdValue;
}

/** The fields of the configuration about thresholds. Keys are signals; amounts are quantities or percentages. */
export interface ThresholdFields {
  readonly evictionHard: Readonly<Record<string, string>>;
  readonly evictionSoft: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly evictionSoftGracePeriod: Readonly<Record<string, number>>;
  readonly evictionMinimumReclaim: Readonly<Record<string, string>>;
  readonly enforceNodeAllocatable: readonly string[];
}

/**
 * The default of `evictionHard`.
 *
 * Source: pkg/kubelet/eviction/defaults_linux.go DefaultEvictionHard
 */
export const DEFAULT_EVICTION_HARD: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
};

/**
 * Returns the thresholds of a valid configuration. `0%` and `100%` switch a threshold off. Where the pods as a whole have a limit, it has
 * the hard thresholds of memory, too.
 *
 * Source: pkg/kubelet/eviction/helpers.go ParseThresholdConfig, addAllocatableThresholds
 */
export const evictionThresholds = (fields: ThresholdFields): readonly Threshold[] => {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = fields;
  const made = (texts: Readonly<Record<string, string>>, graceOf: (signal: string) => number): readonly Threshold[] =>
    Object.entries(texts).flatMap(([signal, text]) => {
      if (!isSignal(signal) || text === '0%' || text === '100%') return [];
      const reclaim = evictionMinimumReclaim[signal];
      return {
        signal,
        value: valueOf(text),
        gracePeriodMs: graceOf(signal),
        ...(reclaim !== undefined && { minReclaim: valueOf(reclaim) }),
      };
    });
  const hard = made(evictionHard, () => 0);
  const soft = made(evictionSoft, (signal) => evictionSoftGracePeriod[signal] ?? 0);
  const ofPods = fields.enforceNodeAllocatable.includes('pods')
    ? hard.filter(({ signal }) => signal === 'memory.available')
    : [];
  return [...hard, ...soft, ...ofPods.map((one): Threshold => ({ ...one, signal: 'allocatableMemory.available' }))];
};

const valueOf = (text: string): ThresholdValue =>
  text.endsWith('%')
    ? { share: Math.fround(Math.fround(Number(text.slice(0, -1))) / 100) }
    : { amount: Number(unitValue(parseQuantity(text) ?? quantity('0'))), format: formatOf(text) };

/** Returns the amount of a value, given the capacity of its resource. Source: pkg/kubelet/eviction/api/types.go GetThresholdQuantity */
export const amountOf = (value: ThresholdValue, capacity: number): number =>
  'share' in value ? Math.trunc(capacity * value.share) : value.amount;

export const isHard = ({ gracePeriodMs }: Threshold): boolean => gracePeriodMs === 0;

/**
 * Replaces the thresholds of the file system of containers by those of the file system that it is part of: the one of images while a
 * separate one holds both, else the one of the node.
 *
 * Source: pkg/kubelet/eviction/helpers.go UpdateContainerFsThresholds
 */
export const withContainerThresholds = (thresholds: readonly Threshold[], layout: DiskLayout): readonly Threshold[] => {
  const source = layout === 'dedicated-images' ? 'imagefs' : 'nodefs';
  const kept = thresholds.filter(({ signal }) => !signal.startsWith('containerfs.'));
  const derived = kept.flatMap((threshold) => {
    const signal = threshold.signal.replace(`${source}.`, 'containerfs.');
    return signal !== threshold.signal && isSignal(signal) ? [{ ...threshold, signal }] : [];
  });
  return [...kept, ...derived];
};

/** Memory first, since the kernel kills processes where it runs out; the others in their order. Source: pkg/kubelet/eviction/helpers.go byEvictionPriority */
export const byUrgency = (one: Threshold, other: Threshold): number => urgency(one) - urgency(other);

const urgency = ({ signal }: Threshold): number => (SIGNALS[signal].resource === 'memory' ? 0 : 1);
