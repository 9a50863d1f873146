import type { FailureReport } from '../../src/sim/histories/investigate-failure.js';
import type { HistoryStats } from '../../src/sim/histories/run-history.js';

/** Seeds for a worker. */
export interface SeedBatch {
  readonly seeds: readonly number[];
  /** Of nodes that belong to a cluster. */
  readonly isCluster: boolean;
}

/** What came of one seed. */
export interface SeedReport {
  readonly seed: number;
  readonly stats: HistoryStats;
  readonly failure: FailureReport | undefined;
}
