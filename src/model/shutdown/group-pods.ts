import type { Pod } from '../pod/pod.js';
import type { ShutdownGroup } from './shutdown-groups.js';

/** A group with its pods. */
export interface PodGroup extends ShutdownGroup {
  readonly pods: readonly Pod[];
}

/**
 * Sorts pods into the groups, lowest priority first; groups without pods are left out. A pod belongs to the group of the
 * highest priority that is not above its own, and to the lowest group if all are above it. A pod without a priority has 0.
 * `groups` has at least one group, lowest priority first. Of several groups with the same priority, the first has the
 * pods of exactly this priority and the last those above it, as upstream.
 *
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go groupByPriority
 */
export const groupPods = (groups: readonly ShutdownGroup[], pods: readonly Pod[]): readonly PodGroup[] => {
  const podsOf = new Map<number, Pod[]>();
  for (const pod of pods) {
    const index = groupOf(groups, pod.spec.priority ?? 0);
    const others = podsOf.get(index);
    if (others) others.push(pod);
    else podsOf.set(index, [pod]);
  }
  return groups.flatMap((group, index) => {
    const own = podsOf.get(index);
    return own ? [{ ...group, pods: own }] : [];
  });
};

const groupOf = (groups: readonly ShutdownGroup[], priority: number): number => {
  const exact = groups.findIndex((group) => group.priority === priority);
  if (exact >= 0) return exact;
  return Math.max(
    groups.findLastIndex((group) => group.priority < priority),
    0,
  );
};

/**
 * The grace period of a pod in its group, in seconds: that of the group, or the pod's own if it is shorter.
 *
 * Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go killPods
 */
export const shutdownGraceSeconds = ({ graceSeconds }: ShutdownGroup, { spec }: Pod): number =>
  Math.min(graceSeconds, spec.terminationGracePeriodSeconds ?? Infinity);

/** A timer of Node that is set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The longest wait for the pods of a group, in milliseconds. */
export const groupLimitMs = ({ graceSeconds }: ShutdownGroup): number =>
  Math.min(graceSeconds * 1_000, LONGEST_TIMER_MS);
