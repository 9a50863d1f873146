import { performance } from 'node:perf_hooks';
import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs';

/**
 * `asyncScheduler` with a clock of fractions of milliseconds that never jumps, even if an administrator sets the time
 * of day. So measured durations and waits are exact. It starts at the time of day, so that its times can be read.
 */
export const monotonicScheduler: SchedulerLike = {
  now: () => performance.timeOrigin + performance.now(),
  schedule: <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription =>
    asyncScheduler.schedule(work, delay, state),
};
