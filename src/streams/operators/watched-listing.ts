import {
  asyncScheduler,
  catchError,
  connect,
  defer,
  filter,
  map,
  merge,
  type Observable,
  type ObservableInput,
  of,
  repeat,
  type SchedulerLike,
  share,
  timer,
} from 'rxjs';
import { exhaustMapLatest } from './exhaust-map-latest.js';
import { settle } from './settle.js';

export interface Watched<T> {
  /** Reads everything once. */
  readonly list: () => ObservableInput<T>;
  /**
   * Emits when it has begun to watch and whenever something may have changed. Completes when what it watches is gone or
   * replaced, which it may find out by looking again whenever `check$` emits; fails when watching is impossible.
   */
  readonly watch: (check$: Observable<unknown>) => Observable<unknown>;
  /** Whether such a failure of `watch` will pass by itself and is tried again without growing delays. */
  readonly isPassing: (error: unknown) => boolean;
}

export interface WatchTiming {
  /** From one listing to the next while nothing happens, at a fixed rate. */
  readonly periodMs: number;
  /** How quiet a watch must be before its news is read. */
  readonly quietMs: number;
  /** From the end of a watch to the next attempt; doubles with failures that do not pass, up to `maxRetryMs`. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  readonly scheduler?: SchedulerLike;
}

export type WatchedEvent<T> =
  { readonly kind: 'listed'; readonly value: T } | { readonly kind: 'watch-failed'; readonly error: unknown };

/**
 * Lists at once, at every tick of the period, and when a watch has news. A watch only says that something may have changed;
 * what changed is read again. Listings never overlap: news that arrives during one causes one more.
 *
 * Errors: those of `list`; a failed watch is a value and is tried again.
 * Ends:   never.
 * Source: pkg/kubelet/config/file.go, pkg/kubelet/config/file_linux.go.
 */
export const watchedListing = <T>(
  { list, watch, isPassing }: Watched<T>,
  { periodMs, quietMs, retryMs, maxRetryMs, scheduler = asyncScheduler }: WatchTiming,
): Observable<WatchedEvent<T>> =>
  defer(() => {
    const tick$ = timer(0, periodMs, scheduler).pipe(share());
    let backoffMs = 0;
    let failedAt = 0;
    let pauseMs = retryMs;
    const watching$ = defer(() => watch(tick$)).pipe(
      map(() => ({ kind: 'news' as const })),
      catchError((error: unknown) => {
        if (!isPassing(error)) {
          const isForgotten = scheduler.now() - failedAt > 2 * maxRetryMs;
          backoffMs = backoffMs === 0 || isForgotten ? retryMs : Math.min(2 * backoffMs, maxRetryMs);
          failedAt = scheduler.now();
          pauseMs = backoffMs;
        }
        return of({ kind: 'watch-failed' as const, error });
      }),
      repeat({
        delay: () => {
          const pause$ = timer(pauseMs, scheduler);
          pauseMs = retryMs;
          return pause$;
        },
      }),
    );
    return watching$.pipe(
      connect((watch$) =>
        merge(
          watch$.pipe(filter((event) => event.kind === 'watch-failed')),
          // A failed watch is news too: what it watched may be gone.
          merge(watch$.pipe(settle({ quietMs, longestMs: 10 * quietMs, scheduler })), tick$).pipe(
            exhaustMapLatest(list),
            map((value) => ({ kind: 'listed' as const, value })),
          ),
        ),
      ),
    );
  });
