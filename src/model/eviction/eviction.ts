import { isCriticalPod, type Pod } from '../pod/pod.js';
import { evictionGraceSeconds, type EvictionPolicy, IMMEDIATE_GRACE_SECONDS } from './eviction-policy.js';
import { evictionMessage, evictionReason } from './eviction-message.js';
import type { SignalObservations, PodFigures } from './figures.js';
import type { ExceededLimit } from './local-limits.js';
import { rankPods } from './rank-pods.js';
import type { DiskLayout } from './signals.js';
import type { Threshold } from './thresholds.js';

/** The eviction of one pod. */
export interface Eviction {
  readonly pod: Pod;
  /** The label of its metrics: a signal of the node, or the limit of the pod. */
  readonly signal: string;
  readonly graceSeconds: number;
  /** The message of its status and its event, in the words of the kubelet. */
  readonly message: string;
  /** Of the event. */
  readonly annotations: Readonly<Record<string, string>>;
  /** In plain words, for the journal. */
  readonly reason: string;
  /** The shortage of the node is the reason, not a limit of the pod itself. */
  readonly isDisrupted: boolean;
  /** The time of the observation, in Unix milliseconds. */
  readonly observedAt?: number;
}

/** A threshold that is met for its grace period, with the figures by which it is met. */
export interface Shortage {
  readonly threshold: Threshold;
  readonly observations: SignalObservations;
  readonly layout: DiskLayout;
}

/**
 * Returns the eviction of the first pod in the order of eviction that is not critical; undefined if there is none.
 *
 * Source: pkg/kubelet/eviction/eviction_manager.go synchronize
 */
export const evictionForShortage = (
  { threshold, observations, layout }: Shortage,
  pods: readonly Pod[],
  figures: readonly PodFigures[],
  policy: Pick<EvictionPolicy, 'maxPodGraceSeconds'>,
): Eviction | undefined => {
  const byUid = new Map(figures.map((each) => [each.uid, each]));
  const measured = pods.map((pod) => ({ pod, figures: byUid.get(pod.metadata.uid) }));
  const [first, next, ...others] = rankPods(measured, threshold.signal, layout).filter(({ pod }) => mayBeEvicted(pod));
  if (!first) return undefined;
  const candidates = 1 + (next ? 1 : 0) + others.length;
  const observedAt = observations[threshold.signal]?.timeMs;
  return {
    pod: first.pod,
    signal: threshold.signal,
    graceSeconds: evictionGraceSeconds(threshold, policy, first.pod),
    ...evictionMessage(first, threshold, observations),
    reason: evictionReason(threshold, observations, { candidates, next: next?.pod }),
    isDisrupted: true,
    ...(observedAt !== undefined && { observedAt }),
  };
};

/** Returns the eviction of a pod that exceeds a limit of its own. */
export const evictionForLimit = (pod: Pod, { signal, message }: ExceededLimit): Eviction => ({
  pod,
  signal,
  graceSeconds: IMMEDIATE_GRACE_SECONDS,
  message,
  annotations: {},
  reason: `the pod takes more local storage than its limit: ${message.trimEnd()}`,
  isDisrupted: false,
});

/** Critical pods are never evicted. Source: pkg/kubelet/eviction/eviction_manager.go evictPod */
export const mayBeEvicted = (pod: Pod): boolean => !isCriticalPod(pod);
