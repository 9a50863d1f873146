import {
  concat,
  ignoreElements,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';

/** The kubelet closes both sides at once, which may cost the last bytes of output while the client still sends input. */
const LINGER_MS = 5_000;

/** One side of a stream has ended, and the other one has received all its bytes. */
export type HalfClosed = 'half-closed';

export interface StreamEndings {
  /** Emits when a side has received all bytes of the other one, which has ended. */
  readonly flushed$: Observable<unknown>;
  /** Emits when both sides are closed. */
  readonly closed$: Observable<unknown>;
  readonly scheduler: SchedulerLike;
}

/** Emits when one side has ended. Completes when both sides are closed, and at the latest 5 s after one side has ended. */
export const streamEnd = ({ flushed$, closed$, scheduler }: StreamEndings): Observable<HalfClosed> =>
  flushed$.pipe(
    take(1),
    switchMap(() => concat(of('half-closed' as const), timer(LINGER_MS, scheduler).pipe(ignoreElements()))),
    takeUntil(closed$),
  );
