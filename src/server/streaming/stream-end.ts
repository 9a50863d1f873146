import { ignoreElements, merge, type Observable, type SchedulerLike, switchMap, take, timer } from 'rxjs';

/** The kubelet closes both sides at once, which may cost the last bytes of output while the client still sends input. */
const LINGER_MS = 5_000;

export interface StreamEndings {
  /** Emits when a side has received all bytes of the other one, which has ended. */
  readonly flushed$: Observable<unknown>;
  /** Emits when both sides are closed. */
  readonly closed$: Observable<unknown>;
  readonly scheduler: SchedulerLike;
}

/** Completes when both sides of a stream are closed, and at the latest 5 s after one side has ended. */
export const streamEnd = ({ flushed$, closed$, scheduler }: StreamEndings): Observable<never> => {
  const lingered$ = flushed$.pipe(
    take(1),
    switchMap(() => timer(LINGER_MS, scheduler)),
  );
  return merge(closed$, lingered$).pipe(take(1), ignoreElements());
};
