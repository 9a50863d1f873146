import { filter, map, merge, type Observable, type SchedulerLike, take, tap, timer } from 'rxjs';
import { formatPod, type Pod } from '../../model/pod/pod.js';
import type { Logger } from '../ports/logger.js';

/** The time between two checks whether an evicted pod is gone, in milliseconds. Source: pkg/kubelet/eviction/eviction_manager.go podCleanupPollFreq */
export const CLEANUP_CHECK_MS = 1_000;
/** The longest wait for it, in milliseconds. Source: the same file, podCleanupTimeout */
export const CLEANUP_LIMIT_MS = 30_000;

export interface UntilCleanedUpOptions {
  readonly isCleanedUp: (uid: string) => boolean;
  readonly log: Pick<Logger, 'info'>;
  readonly scheduler: SchedulerLike;
}

/** Emits once all these pods are cleaned up, or after 30 s. It checks each second, for the first time after one. Errors: none. */
export const untilCleanedUp = (
  pods: readonly Pod[],
  { isCleanedUp, log, scheduler }: UntilCleanedUpOptions,
): Observable<unknown> => {
  const left = (): readonly Pod[] => pods.filter(({ metadata }) => !isCleanedUp(metadata.uid));
  const cleanedUp$ = timer(CLEANUP_CHECK_MS, CLEANUP_CHECK_MS, scheduler).pipe(filter(() => left().length === 0));
  const tooLate$ = timer(CLEANUP_LIMIT_MS, scheduler).pipe(
    map(left),
    tap((late) => log.info({ pods: late.map(formatPod) }, 'an evicted pod is not cleaned up yet')),
  );
  return merge(cleanedUp$, tooLate$).pipe(take(1));
};
