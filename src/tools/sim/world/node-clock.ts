import type { SchedulerLike } from 'rxjs';

/** The state of a wall clock: see `WorldEvent`. */
export interface ClockSetting {
  /** The offset from the scheduler's clock, in milliseconds. */
  readonly aheadMs: number;
  /** Seconds of this clock in a second of the scheduler's. */
  readonly rate: number;
}

/** A wall clock of a simulated machine. */
export interface NodeClock {
  /** Unix milliseconds; whole. */
  readonly now: () => number;
  /** Sets it forward, or back if negative. Pending timers are not affected. */
  readonly jump: (byMs: number) => void;
  /** Lets it run at another speed from now on. Pending timers are not affected. */
  readonly run: (rate: number) => void;
  readonly setting: () => ClockSetting;
}

/** A wall clock that agrees with the scheduler and runs as fast at first. */
export const nodeClock = (scheduler: Pick<SchedulerLike, 'now'>): NodeClock => {
  let offsetMs = 0;
  let rate = 1;
  let since = scheduler.now();
  const aheadMs = (): number => (rate === 1 ? offsetMs : offsetMs + (scheduler.now() - since) * (rate - 1));
  return {
    now: () => Math.floor(scheduler.now() + aheadMs()),
    jump: (byMs) => {
      offsetMs += byMs;
    },
    run: (next) => {
      offsetMs = aheadMs();
      since = scheduler.now();
      rate = next;
    },
    setting: () => ({ aheadMs: aheadMs(), rate }),
  };
};
