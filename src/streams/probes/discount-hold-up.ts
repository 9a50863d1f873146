import {
  defer,
  ignoreElements,
  map,
  merge,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
  take,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';

/** The delay of the agent's own timer, in milliseconds, from which a probe that timed out has no result. */
export const HELD_UP_MS = 100;

/**
 * Emits the outcome of a probe. A failure becomes an error if the agent itself was held up when the timeout passed: the answer may
 * have arrived in time without being read.
 *
 * Errors: `ProbeErrored` for such a failure; those of the source; a source that ends without an outcome.
 * Ends:   with the first outcome.
 */
export const discountHoldUp =
  (timeoutMs: number, scheduler: SchedulerLike): MonoTypeOperatorFunction<ProbeOutcome> =>
  (source) =>
    defer(() => {
      const deadline = scheduler.now() + timeoutMs;
      // The time from the deadline to the first read of the clock after it.
      let lateMs: number | undefined;
      const readClock = (): void => {
        lateMs ??= Math.max(scheduler.now() - deadline, 0);
      };
      const atDeadline$ = timer(timeoutMs, scheduler).pipe(tap(readClock), ignoreElements());
      const outcome$ = source.pipe(throwIfEmpty(() => new Error('the probe ended without a result')));
      return merge(outcome$, atDeadline$).pipe(
        take(1),
        map((outcome) => {
          if (scheduler.now() >= deadline) readClock();
          if (outcome.result !== 'failure' || lateMs === undefined || lateMs <= HELD_UP_MS) return outcome;
          const message = `the agent was held up for ${lateMs} ms when the timeout passed: ${outcome.output}`;
          throw new ProbeErrored(message, 'unknown');
        }),
      );
    });
