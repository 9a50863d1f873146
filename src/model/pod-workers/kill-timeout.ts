/** The shortest wait for a pod to stop, in milliseconds. */
export const KILL_TIMEOUT_MIN_MS = 10_000;

/**
 * The longest wait for a pod to stop, in milliseconds: one and a half times its grace period, and at least ten seconds.
 *
 * Source: pkg/kubelet/pod_workers.go killPodNow
 */
export const killTimeoutMs = (graceSeconds: number): number =>
  Math.max(KILL_TIMEOUT_MIN_MS, (graceSeconds + Math.trunc(graceSeconds / 2)) * 1_000);
