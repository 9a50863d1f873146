import type { Pod } from './pod.js';

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
