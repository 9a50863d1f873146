import type { Pod } from './pod.js';

export const DEADLINE_EXCEEDED = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const;

/**
 * Whether the pod has been on this node for `activeDeadlineSeconds`. False for a pod without a start time. `startTime`
 * is RFC 3339, `now` Unix milliseconds. Source: pkg/kubelet/active_deadline.go pastActiveDeadline.
 */
export const isPastActiveDeadline = (pod: Pod, startTime: string | undefined, now: number): boolean => {
  const { activeDeadlineSeconds } = pod.spec;
  if (activeDeadlineSeconds === undefined || startTime === undefined) return false;
  return now - Date.parse(startTime) >= activeDeadlineSeconds * 1000;
};
