import { isCriticalPod, type Pod } from '../pod/pod.js';
import { type QosClass, qosClass } from '../pod-status/qos.js';
import type { Nanos } from '../resources/quantity.js';
import { type MissingResource, requestOf } from './missing-resources.js';

/** How much of each resource is missing still; only those of which something is. */
export type Shortfall = ReadonlyMap<string, Nanos>;

export interface PodsToPreempt {
  readonly victims: readonly Pod[];
  /** What would be missing still if every pod were stopped that may be; empty if they have enough. */
  readonly lacking: Shortfall;
}

/** Returns how much a pod lacks of each missing resource. */
export const shortfallOf = (missing: readonly MissingResource[]): Shortfall =>
  new Map(missing.map(({ resource, requested, used, capacity }) => [resource, requested - (capacity - used)]));

/**
 * Whether a pod may be stopped to make room for a critical one: if it is not critical itself, or has a lower priority.
 *
 * Source: pkg/kubelet/types/pod_update.go Preemptable
 */
export const mayPreempt = (preemptor: Pod, pod: Pod): boolean => {
  if (isCriticalPod(preemptor) && !isCriticalPod(pod)) return true;
  const [wanted, present] = [preemptor.spec.priority, pod.spec.priority];
  return wanted !== undefined && present !== undefined && wanted > present;
};

/**
 * Returns the pods that are stopped to make room for a critical one, in the order of their classes: BestEffort, Burstable, Guaranteed.
 * Of a higher class it takes only as much as the lower ones cannot give; then of each class, from the highest to the lowest, what the chosen
 * ones do not give, the pod first that comes nearest to what is missing still. If all of them together do not have enough, none is stopped.
 *
 * Source: pkg/kubelet/preemption/preemption.go getPodsToPreempt
 */
export const podsToPreempt = (preemptor: Pod, active: readonly Pod[], shortfall: Shortfall): PodsToPreempt => {
  const candidates = active.filter((pod) => mayPreempt(preemptor, pod));
  const lacking = without(shortfall, candidates);
  if (lacking.size > 0) return { victims: [], lacking };
  const of = (wanted: QosClass): readonly Pod[] => candidates.filter((pod) => qosClass(pod) === wanted);
  const [bestEffort, burstable] = [of('BestEffort'), of('Burstable')];
  const fromGuaranteed = nearest(of('Guaranteed'), without(shortfall, [...bestEffort, ...burstable]));
  const fromBurstable = nearest(burstable, without(shortfall, [...bestEffort, ...fromGuaranteed]));
  const fromBestEffort = nearest(bestEffort, without(shortfall, [...fromBurstable, ...fromGuaranteed]));
  return { victims: [...fromBestEffort, ...fromBurstable, ...fromGuaranteed], lacking };
};

/** Returns what is missing still once these pods have stopped. */
const without = (shortfall: Shortfall, pods: readonly Pod[]): Shortfall =>
  new Map(
    [...shortfall]
      .map(
        ([resource, missing]) =>
          [resource, pods.reduce((left, pod) => left - requestOf(pod, resource), missing)] as const,
      )
      .filter(([, missing]) => missing > 0n),
  );

/**
 * Takes pods until nothing is missing, each time the nearest one. All of them together have enough.
 *
 * Source: pkg/kubelet/preemption/preemption.go getPodsToPreemptByDistance
 */
const nearest = (pods: readonly Pod[], shortfall: Shortfall): readonly Pod[] => {
  const [first] = shortfall.size === 0 ? [] : pods.toSorted(byDistance(shortfall));
  if (!first) return [];
  const others = pods.filter((pod) => pod !== first);
  return [first, ...nearest(others, without(shortfall, [first]))];
};

/** Between pods that are as near, the one that requests less goes first; where upstream leaves it open, the lower priority and the younger. */
const byDistance =
  (shortfall: Shortfall) =>
  (one: Pod, other: Pod): number =>
    distance(one, shortfall) - distance(other, shortfall) ||
    compare(requestOf(one, 'memory'), requestOf(other, 'memory')) ||
    compare(requestOf(one, 'cpu'), requestOf(other, 'cpu')) ||
    (one.spec.priority ?? 0) - (other.spec.priority ?? 0) ||
    compare(other.metadata.creationTimestamp ?? '', one.metadata.creationTimestamp ?? '');

/** The part of each resource that would be missing still, squared and added up: 0 for a pod that gives all. */
const distance = (pod: Pod, shortfall: Shortfall): number =>
  [...shortfall].reduce((sum, [resource, missing]) => {
    const left = missing - requestOf(pod, resource);
    return left > 0n ? sum + (Number(left) / Number(missing)) ** 2 : sum;
  }, 0);

const compare = <T extends bigint | string>(one: T, other: T): number => (one < other ? -1 : Number(one > other));
