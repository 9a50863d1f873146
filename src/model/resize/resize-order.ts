import type { Pod, PodStatus } from '../pod/pod.js';
import { qosClass } from '../pod-status/qos.js';
import { RESIZE_PENDING } from '../pod-status/conditions.js';
import { podAmounts } from '../resources/pod-resources.js';
import type { ResizedPod } from './decide-resize.js';

/** A resize that waits, with the status of its pod. */
export interface QueuedResize extends ResizedPod {
  readonly status: PodStatus | undefined;
}

/**
 * The order in which resizes are tried: those that ask for no more first, then by priority, then Guaranteed pods, then those that wait for
 * longest. Those that do not wait yet are the last.
 *
 * Source: pkg/kubelet/allocation/allocation_manager.go sortPendingResizes
 */
export const inResizeOrder = (queue: readonly QueuedResize[]): readonly QueuedResize[] =>
  queue
    .map((resize) => ({ resize, rank: rankOf(resize) }))
    .toSorted((one, other) => compare(one.rank, other.rank))
    .map(({ resize }) => resize);

const rankOf = ({ asked, has, status }: QueuedResize): readonly number[] => {
  const waiting = status?.conditions?.find(({ type }) => type === RESIZE_PENDING)?.lastTransitionTime;
  return [
    asksForMore(asked, has) ? 1 : 0,
    -(asked.spec.priority ?? 0),
    qosClass(asked) === 'Guaranteed' ? 0 : 1,
    waiting === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(waiting),
  ];
};

const asksForMore = (asked: Pod, has: Pod): boolean => {
  const [wanted, present] = [podAmounts(asked, 'requests'), podAmounts(has, 'requests')];
  return ['cpu', 'memory'].some((name) => (wanted.get(name) ?? 0n) > (present.get(name) ?? 0n));
};

const compare = (one: readonly number[], other: readonly number[]): number =>
  one.map((value, index) => value - other[index]!).find((difference) => difference !== 0) ?? 0;
