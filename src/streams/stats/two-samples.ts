import { concat, defer, type Observable, type SchedulerLike, switchMap, timer, toArray } from 'rxjs';

/** The time between the samples of a rate: over less, the steps of the kernel's counters show. */
export const SAMPLES_APART_MS = 1_000;

/** Emits two samples together, the second one read a second after the first one has arrived. Errors: those of a read. */
export const twoSamples = <T>(read: () => Observable<T>, scheduler: SchedulerLike): Observable<readonly T[]> =>
  concat(defer(read), timer(SAMPLES_APART_MS, scheduler).pipe(switchMap(read))).pipe(toArray());
