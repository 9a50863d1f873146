import { filter, interval, map, type Observable, type SchedulerLike, take } from 'rxjs';

/** The period of the checks whether the pod of a port-forward has ended. */
export const FORWARD_CHECK_MS = 1_000;

/**
 * Emits once `hasEnded` is true, and completes. A runtime keeps the session of a port-forward after the end of its pod, while its clients may have
 * connected to another program or pod by the time they notice: unlike upstream, the session ends with the pod, as exec, attach and logs do.
 */
export const forwardEnd = (hasEnded: () => boolean, scheduler: SchedulerLike): Observable<'pod-ended'> =>
  interval(FORWARD_CHECK_MS, scheduler).pipe(
    filter(hasEnded),
    take(1),
    map(() => 'pod-ended' as const),
  );
