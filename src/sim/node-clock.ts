import type { SchedulerLike } from 'rxjs';

/** The time of day of a simulated machine. Everything on it looks at the same one. */
export interface NodeClock {
  /** Unix milliseconds; whole. */
  readonly now: () => number;
  /** Sets it forward, or back if negative. Nothing that waits is affected. */
  readonly jump: (byMs: number) => void;
  /** Of the scheduler's clock. */
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
