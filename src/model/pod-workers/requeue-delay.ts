import type { PodWait } from '../pod-actions/start-wait.js';
import { isNetworkNotReady, PodSyncError } from '../pod-actions/sync-error.js';

/** Source: pkg/kubelet/kubelet.go backOffPeriod, pkg/kubelet/pod_workers.go. All in milliseconds. */
export const BACK_OFF_PERIOD_MS = 10_000;
export const NETWORK_BACK_OFF_MS = 1_000;
export const STATIC_START_RETRY_MS = 10_000;
export const JITTER = 0.5;

/** Between `ms` and one and a half times that. Source: apimachinery pkg/util/wait Jitter. */
export const jittered = (ms: number, random: () => number): number => ms * (1 + random() * JITTER);

/** The end of a run: with an error, with containers that wait, or without either. */
export interface RunEnd {
  readonly error?: unknown;
  readonly wait?: PodWait | undefined;
}

/**
 * Returns the milliseconds until a worker syncs its pod again after a run that ended so.
 *
 * Source: pkg/kubelet/pod_workers.go completeWork
 */
export const requeueDelayMs = (
  { error, wait }: RunEnd,
  {
    now,
    resyncIntervalMs,
    random,
  }: { readonly now: number; readonly resyncIntervalMs: number; readonly random: () => number },
): number => {
  if (error === undefined && !wait) return jittered(resyncIntervalMs, random);
  if (isNetworkNotReady(error)) return jittered(NETWORK_BACK_OFF_MS, random);
  const until = error instanceof PodSyncError ? error.waitsUntil : wait?.waitsUntil;
  if (until !== undefined) return jittered(Math.min(Math.max(until - now, 0), resyncIntervalMs), random);
  return jittered(BACK_OFF_PERIOD_MS, random);
};
