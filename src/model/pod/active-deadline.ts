import { isTerminalPhase, type Pod, type PodStatus } from './pod.js';

export const DEADLINE_EXCEEDED = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/**
 * Whether the pod has been on this node for `activeDeadlineSeconds`. False for a pod that has not started: `activeMs` is undefined.
 *
 * Source: pkg/kubelet/active_deadline.go pastActiveDeadline
 */
export const isPastActiveDeadline = (pod: Pod, activeMs: number | undefined): boolean => {
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined || activeMs === undefined) return false;
  return activeMs >= activeDeadlineSeconds * 1000;
};

/**
 * Returns the start time from which the deadline of a pod counts, in RFC 3339; undefined for a pod without a deadline, and for one that has
 * not started, has ended or stops already.
 *
 * Source: pkg/kubelet/active_deadline.go ShouldSync
 */
export const startOfDeadline = (
  { spec }: Pick<Pod, 'spec'>,
  status: Pick<PodStatus, 'phase' | 'startTime'> | undefined,
  isStopping: boolean,
): string | undefined =>
  spec.activeDeadlineSeconds === undefined || isStopping || isTerminalPhase(status?.phase)
    ? undefined
    : status?.startTime;
