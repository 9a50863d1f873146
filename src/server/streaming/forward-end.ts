import { filter, map, type Observable, startWith, take } from 'rxjs';

/**
 * Emits as soon as `hasEnded` is true, and completes; asks at once and after each change. A runtime keeps the session of a port-forward after
 * the end of its pod, while its clients may have connected to another program or pod by the time they notice: unlike upstream, the session
 * ends with the pod, as exec, attach and logs do.
 */
export const forwardEnd = (podChange$: Observable<unknown>, hasEnded: () => boolean): Observable<'pod-ended'> =>
  podChange$.pipe(
    startWith(undefined),
    filter(hasEnded),
    take(1),
    map(() => 'pod-ended' as const),
  );
