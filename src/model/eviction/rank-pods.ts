import type { Pod } from '../pod/pod.js';
import { podAmountsWithOverhead } from '../resources/pod-resources.js';
import { unitValue } from '../resources/quantity.js';
import { diskUseOf, partsOn } from './disk-use.js';
import type { PodFigures } from './figures.js';
import { type DiskLayout, type EvictionSignal, SIGNALS } from './signals.js';

/** A pod with its figures; undefined if they are not known. */
export interface MeasuredPod {
  readonly pod: Pod;
  readonly figures: PodFigures | undefined;
}

/** A pod with the keys of its rank. */
interface Candidate extends MeasuredPod {
  readonly isKnown: boolean;
  readonly priority: number;
  /** The usage above the request, in the unit of the resource; negative below it. */
  readonly excess: number;
}

/**
 * Returns the pods in the order in which they are evicted. Short of memory or disk: pods without figures, then those that use more than they
 * request, then by priority, the lowest first, then by the usage above the request, the largest first. Short of processes: by priority, then
 * by the number of processes.
 *
 * Source: pkg/kubelet/eviction/helpers.go rankMemoryPressure, rankDiskPressureFunc, rankPIDPressure
 */
export const rankPods = (
  pods: readonly MeasuredPod[],
  signal: EvictionSignal,
  layout: DiskLayout,
): readonly MeasuredPod[] => {
  const candidates = pods.map((one) => candidate(one, signal, layout));
  return candidates.toSorted(SIGNALS[signal].pressure === 'pid' ? byProcesses : byExcess);
};

const candidate = ({ pod, figures }: MeasuredPod, signal: EvictionSignal, layout: DiskLayout): Candidate => {
  const { resource } = SIGNALS[signal];
  const isKnown = figures !== undefined;
  const keys = { pod, figures, isKnown, priority: pod.spec.priority ?? 0 };
  if (!figures) return { ...keys, excess: 0 };
  switch (resource) {
    case 'pids':
      return { ...keys, excess: figures.processes ?? 0 };
    case 'memory':
      return { ...keys, excess: (figures.workingSet ?? 0) - requestOf(pod, 'memory') };
    default: {
      const unit = resource === 'inodes' ? 'inodes' : 'bytes';
      // The request is in bytes for inodes, too, as upstream.
      return {
        ...keys,
        excess: diskUseOf(figures, partsOn(signal, layout), unit) - requestOf(pod, 'ephemeral-storage'),
      };
    }
  }
};

const requestOf = (pod: Pod, resource: string): number =>
  Number(unitValue(podAmountsWithOverhead(pod, 'requests').get(resource) ?? 0n));

const byExcess = (one: Candidate, other: Candidate): number =>
  first(!one.isKnown, !other.isKnown) ||
  first(one.excess > 0, other.excess > 0) ||
  one.priority - other.priority ||
  other.excess - one.excess;

const byProcesses = (one: Candidate, other: Candidate): number =>
  one.priority - other.priority || first(!one.isKnown, !other.isKnown) || other.excess - one.excess;

const first = (one: boolean, other: boolean): number => Number(other) - Number(one);
