import { type MonoTypeOperatorFunction, type SchedulerLike, tap, timer } from 'rxjs';
import { alongside } from './alongside.js';

/** Calls `onSlow` once if the source has not ended after `afterMs` milliseconds; changes nothing about it. */
export const tapIfSlow = <T>(
  afterMs: number,
  onSlow: () => void,
  scheduler: SchedulerLike,
): MonoTypeOperatorFunction<T> => alongside(timer(afterMs, scheduler).pipe(tap(onSlow)));
