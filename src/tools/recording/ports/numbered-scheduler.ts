import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

/** The owner of the timers of a `NumberedScheduler`, which numbers them. */
export interface TimerKeeper {
  readonly now: () => number;
  /** A timer is set, or set again before or after it was due; it fires after the delay. */
  readonly set: (timer: NumberedTimer, delayMs: number) => void;
  /** A timer was cancelled before it was due. */
  readonly cancel: (timer: NumberedTimer) => void;
}

/** The timer of one action of the scheduler. */
export interface NumberedTimer {
  /** The number of the newest setting. */
  number: number;
  /** The keeper's own timer. */
  running?: Subscription;
  /** Runs the action. */
  readonly fire: () => void;
}

/** A scheduler that passes every timer to a keeper. */
export const numberedScheduler = (keeper: TimerKeeper): SchedulerLike => ({
  now: keeper.now,
  schedule: <T>(work: Work<T>, delay = 0, state?: T): Subscription =>
    new NumberedAction(keeper, work).schedule(state, delay),
});

class NumberedAction<T> extends Subscription implements SchedulerAction<T>, NumberedTimer {
  number = 0;
  running?: Subscription;
  #isPending = false;
  #state: T | undefined;

  constructor(
    private readonly keeper: TimerKeeper,
    private readonly work: Work<T>,
  ) {
    super();
  }

  schedule(state?: T, delay = 0): this {
    if (this.closed) return this;
    this.#state = state;
    this.#isPending = true;
    this.keeper.set(this, delay);
    return this;
  }

  fire(): void {
    this.#isPending = false;
    this.work.call(this, this.#state);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    if (this.#isPending) this.keeper.cancel(this);
    this.#isPending = false;
    super.unsubscribe();
  }
}
