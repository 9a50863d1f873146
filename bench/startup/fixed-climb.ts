import type { LimitClimb as Climb, LimitWindow } from '../../src/streams/operators/limit-climb.js';

/** Set by the bundler. */
declare const START_WIDTH: number;

/** Takes the place of the limit that learns: it is always `START_WIDTH`. */
export class LimitClimb implements Pick<Climb, 'limit' | 'window' | 'add'> {
  readonly limit = START_WIDTH;
  readonly window: LimitWindow = { limit: START_WIDTH, kinds: new Map() };

  add(): void {
    // Learns nothing.
  }
}
