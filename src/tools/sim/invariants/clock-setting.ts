/** A wall clock: so far ahead at `since`, with `rate` of its seconds in a second. Virtual milliseconds. */
export interface ClockSetting {
  readonly aheadMs: number;
  readonly rate: number;
  readonly since: number;
}

export const RIGHT: ClockSetting = { aheadMs: 0, rate: 1, since: 0 };

/** The time that the clock shows at a time, in Unix milliseconds. */
export const wallOf = ({ aheadMs, rate, since }: ClockSetting, at: number): number =>
  rate === 1 ? at + aheadMs : at + aheadMs + (at - since) * (rate - 1);
