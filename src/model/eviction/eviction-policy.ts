import { isHard, type Threshold } from './thresholds.js';
import type { Pod } from '../pod/pod.js';

/** When pods are evicted. */
export interface EvictionPolicy {
  readonly thresholds: readonly Threshold[];
  /** The time for which a condition of the node stays after its shortage, in milliseconds. */
  readonly pressureTransitionMs: number;
  /** The longest grace period of a pod that a soft threshold evicts, in seconds. */
  readonly maxPodGraceSeconds: number;
  /** Whether pods are evicted that exceed a limit of local storage of their own. */
  readonly enforcesLocalLimits: boolean;
}

/** The grace period of a pod that has no time left, in seconds. Source: pkg/kubelet/eviction/eviction_manager.go immediateEvictionGracePeriodSeconds */
export const IMMEDIATE_GRACE_SECONDS = 1;

/**
 * The grace period of a pod that a threshold evicts, in seconds. A hard one leaves no time. A soft one leaves the pod its own period, up to
 * the longest of the policy, of which 0 and less leave none.
 *
 * Source: pkg/kubelet/eviction/eviction_manager.go synchronize, pkg/kubelet/pod_workers.go calculateEffectiveGracePeriod
 */
export const evictionGraceSeconds = (
  threshold: Threshold,
  { maxPodGraceSeconds }: Pick<EvictionPolicy, 'maxPodGraceSeconds'>,
  { spec }: Pod,
): number => {
  if (isHard(threshold)) return IMMEDIATE_GRACE_SECONDS;
  const own = spec.terminationGracePeriodSeconds ?? Infinity;
  return Math.max(IMMEDIATE_GRACE_SECONDS, Math.min(maxPodGraceSeconds, own));
};
