import {
  asyncScheduler,
  catchError,
  connect,
  defer,
  EMPTY,
  filter,
  map,
  merge,
  type Observable,
  type ObservableInput,
  of,
  type SchedulerLike,
  share,
  Subject,
  switchMap,
  tap,
  timer,
} from 'rxjs';
import { type Backoff, failuresInRow, nextDelay } from '../../model/values/back-off.js';
import { every } from './every.js';
import { exhaustMapLatest } from './exhaust-map-latest.js';
import { debounceAtMost } from './debounce-at-most.js';

export interface Watched<T> {
  /** Reads the whole listing once. */
  readonly list: () => ObservableInput<T>;
  /** The time after which a listing is repeated without any event, in milliseconds. Default: undefined, which means never. */
  readonly againInMs?: (value: T) => number | undefined;
  /**
   * Emits when the watch has begun and whenever something may have changed. Completes when the watched object is gone or
   * replaced; the watch may check that whenever `check$` emits. Fails when watching is impossible.
   */
  readonly watch: (check$: Observable<unknown>) => Observable<unknown>;
  /** Whether a failure of `watch` passes by itself. Such a failure is retried without growing waits. */
  readonly isPassing: (error: unknown) => boolean;
}

export interface WatchTiming {
  /** The period of listings, at a fixed rate, in milliseconds. */
  readonly periodMs: number;
  /** The pause of the watch before a listing, in milliseconds; at most ten times as long passes without a pause. */
  readonly quietMs: number;
  /** The time from the end of a watch to the next, in milliseconds; doubles with failures that do not pass, up to `maxRetryMs`. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  readonly scheduler?: SchedulerLike;
}

export type WatchedEvent<T> =
  { readonly kind: 'listed'; readonly value: T } | { readonly kind: 'watch-failed'; readonly error: unknown };

/**
 * Lists at once, at every tick of the period, after events of the watch, and at the time that `againInMs` returns. The events of a watch
 * carry no data: each listing reads everything. Listings never overlap: events during a listing cause one more.
 *
 * Errors: those of `list`; a failed watch is a value and is retried.
 * Ends:   never.
 * Source: pkg/kubelet/config/file.go, pkg/kubelet/config/file_linux.go.
 */
export const watchedListing = <T>(
  { list, againInMs = () => undefined, watch, isPassing }: Watched<T>,
  { periodMs, quietMs, retryMs, maxRetryMs, scheduler = asyncScheduler }: WatchTiming,
): Observable<WatchedEvent<T>> =>
  defer(() => {
    const tick$ = timer(0, periodMs, scheduler).pipe(share());
    const backoff: Backoff = { initialMs: retryMs, maxMs: maxRetryMs, resetAfterMs: 2 * maxRetryMs };
    let failures = 0;
    let failedAt = 0;
    let pauseMs = retryMs;
    const wish$ = new Subject<number | undefined>();
    const again$ = wish$.pipe(switchMap((inMs) => (inMs === undefined ? EMPTY : timer(inMs, scheduler))));
    const watching$ = every({ periodMs: () => pauseMs, scheduler }, () => {
      pauseMs = retryMs;
      return defer(() => watch(tick$)).pipe(
        map(() => ({ kind: 'news' as const })),
        catchError((error: unknown) => {
          if (!isPassing(error)) {
            failures = failuresInRow(backoff, failures, scheduler.now() - failedAt);
            failedAt = scheduler.now();
            pauseMs = nextDelay(backoff, failures);
          }
          return of({ kind: 'watch-failed' as const, error });
        }),
      );
    });
    return watching$.pipe(
      connect((watch$) =>
        merge(
          watch$.pipe(filter((event) => event.kind === 'watch-failed')),
          // A failed watch causes a listing too: the watched object may be gone.
          merge(watch$.pipe(debounceAtMost({ quietMs, longestMs: 10 * quietMs, scheduler })), tick$, again$).pipe(
            exhaustMapLatest(list),
            tap((value) => wish$.next(againInMs(value))),
            map((value) => ({ kind: 'listed' as const, value })),
          ),
        ),
      ),
    );
  });
