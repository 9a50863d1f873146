import type { FailureReport } from '../../src/tools/sim/histories/investigate-failure.js';
import type { HistoryStats } from '../../src/tools/sim/histories/run-history.js';

/** Seeds for a worker. */
export interface SeedBatch {
  readonly seeds: readonly number[];
  /** Nodes of a cluster. */
  readonly isCluster: boolean;
}

/** The result of one seed. */
export interface SeedReport {
  readonly seed: number;
  readonly stats: HistoryStats;
  readonly failure: FailureReport | undefined;
}
