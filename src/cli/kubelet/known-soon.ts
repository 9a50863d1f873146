import { map, merge, type Observable, type SchedulerLike, shareReplay, take, timer } from 'rxjs';

/** The longest wait of a command for an agent that has just started, in milliseconds. A source may be away for hours. */
export const KNOWN_PATIENCE_MS = 5_000;

/**
 * Emits when the agent knows its pods, or 5 s after the first subscription; to every later subscriber at once. Errors: none.
 */
export const knownSoon = (ready$: Observable<unknown>, scheduler: SchedulerLike): Observable<void> =>
  merge(ready$, timer(KNOWN_PATIENCE_MS, scheduler)).pipe(
    take(1),
    map(() => undefined),
    shareReplay({ bufferSize: 1, refCount: false }),
  );
