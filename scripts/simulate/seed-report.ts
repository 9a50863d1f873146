import type { FailureReport } from '../../src/sim/histories/investigate-failure.js';
import type { HistoryStats } from '../../src/sim/histories/run-history.js';

/** What came of one seed. */
export interface SeedReport {
  readonly seed: number;
  readonly stats: HistoryStats;
  readonly failure: FailureReport | undefined;
}
