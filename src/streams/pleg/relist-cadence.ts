import {
  filter,
  map,
  merge,
  type Observable,
  repeat,
  type SchedulerLike,
  startWith,
  switchMap,
  take,
  timer,
} from 'rxjs';
import { EVENTED_PLEG, GENERIC_PLEG, type PlegCadence } from '../../model/pleg/pleg.js';
import type { RuntimeEventNews } from './runtime-events.js';

export interface RelistTiming {
  /** The time between relists; each value causes a relist at once. */
  readonly cadence$: Observable<PlegCadence>;
  /** Whether something could not be listed or read: then the next relist comes a second after the last one. */
  readonly isBehind: () => boolean;
  readonly scheduler: SchedulerLike;
}

/** The time from a relist that could not list or read everything to the next one. */
export const RELIST_RETRY_MS = GENERIC_PLEG.periodMs;

/**
 * Runs `relistOnce$` at once, and again a period after each run ended. A new cadence cancels the run in flight and begins another,
 * since that run has no effect yet and is the older one.
 *
 * Errors: those of `relistOnce$` and `cadence$`.
 * Ends:   never.
 */
export const relistAtCadence = <T>(
  relistOnce$: Observable<T>,
  { cadence$, isBehind, scheduler }: RelistTiming,
): Observable<T> => {
  const untilNext = ({ periodMs }: PlegCadence): Observable<unknown> => {
    if (periodMs <= RELIST_RETRY_MS) return timer(periodMs, scheduler);
    const retry$ = timer(RELIST_RETRY_MS, RELIST_RETRY_MS, scheduler).pipe(filter(isBehind));
    return merge(timer(periodMs, scheduler), retry$).pipe(take(1));
  };
  return cadence$.pipe(switchMap((cadence) => relistOnce$.pipe(repeat({ delay: () => untilNext(cadence) }))));
};

/**
 * Emits `EVENTED_PLEG` when the stream of the runtime's events opens, and `GENERIC_PLEG` at once and when that stream breaks. Each
 * further failure emits again, and so causes a relist.
 */
export const cadenceOfEvents = (news$: Observable<RuntimeEventNews>): Observable<PlegCadence> =>
  news$.pipe(
    filter(({ kind }) => kind !== 'event'),
    map(({ kind }) => (kind === 'connected' ? EVENTED_PLEG : GENERIC_PLEG)),
    startWith(GENERIC_PLEG),
  );
