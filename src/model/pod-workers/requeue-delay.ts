import { backOffUntil, isNetworkNotReady } from '../sync-error.js';

/** Source: pkg/kubelet/kubelet.go backOffPeriod, pkg/kubelet/pod_workers.go. All in milliseconds. */
export const BACK_OFF_PERIOD_MS = 10_000;
export const NETWORK_BACK_OFF_MS = 1_000;
export const STATIC_START_RETRY_MS = 10_000;
const JITTER = 0.5;

/** Between `ms` and one and a half times that. Source: apimachinery pkg/util/wait Jitter. */
export const jittered = (ms: number, random: () => number): number => ms * (1 + random() * JITTER);

/**
 * Milliseconds until a worker looks at its pod again after a run that ended with `error`, or well.
 *
 * Source: pkg/kubelet/pod_workers.go completeWork
 */
export const requeueDelayMs = (
  error: unknown,
  {
    now,
    resyncIntervalMs,
    random,
  }: { readonly now: number; readonly resyncIntervalMs: number; readonly random: () => number },
): number => {
  if (error === undefined) return jittered(resyncIntervalMs, random);
  if (isNetworkNotReady(error)) return jittered(NETWORK_BACK_OFF_MS, random);
  const until = backOffUntil(error);
  if (until !== undefined) return jittered(Math.min(Math.max(until - now, 0), resyncIntervalMs), random);
  return jittered(BACK_OFF_PERIOD_MS, random);
};
