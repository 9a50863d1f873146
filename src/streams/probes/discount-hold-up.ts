import {
  defer,
  map,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
  startWith,
  take,
  throwIfEmpty,
  timer,
  withLatestFrom,
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
      const lateMs = (): number => Math.max(scheduler.now() - deadline, 0);
      const lateAtDeadline$ = timer(timeoutMs, scheduler).pipe(map(lateMs), startWith(undefined));
      return source.pipe(
        throwIfEmpty(() => new Error('the probe ended without a result')),
        take(1),
        withLatestFrom(lateAtDeadline$),
        map(([outcome, lateAtDeadlineMs]) => {
          // The first read of the clock after the deadline counts: that of the timer, or this one if it comes first.
          const heldUpMs = lateAtDeadlineMs ?? lateMs();
          if (outcome.result !== 'failure' || heldUpMs <= HELD_UP_MS) return outcome;
          const message = `the agent was held up for ${heldUpMs} ms when the timeout passed: ${outcome.output}`;
          throw new ProbeErrored(message, 'unknown');
        }),
      );
    });
