import type { SchedulerLike } from 'rxjs';

/** The time of day of a simulated machine, which all of its processes read. */
export interface NodeClock {
  /** Unix milliseconds; whole. */
  readonly now: () => number;
  /** Sets it forward, or back if negative. Pending timers are not affected. */
  readonly jump: (byMs: number) => void;
  /** The offset from the scheduler's clock. */
  readonly aheadMs: () => number;
}

/** A time of day that goes as fast as the scheduler, and agrees with it at first. */
export const nodeClock = (scheduler: Pick<SchedulerLike, 'now'>): NodeClock => {
  let offsetMs = 0;
  return {
    now: () => Math.floor(scheduler.now() + offsetMs),
    jump: (byMs) => {
      offsetMs += byMs;
    },
    aheadMs: () => offsetMs,
  };
};
