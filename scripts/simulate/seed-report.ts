import type { FailureReport } from '../../src/tools/sim/histories/investigate-failure.js';
import type { HistoryKind } from '../../src/tools/sim/histories/history-kinds.js';
import type { HistoryStats } from '../../src/tools/sim/histories/run-history.js';

/** Seeds for a worker. */
export interface SeedBatch {
  readonly seeds: readonly number[];
  /** The family of the seeds. */
  readonly kind: HistoryKind;
}

/** The result of one seed. */
export interface SeedReport {
  readonly seed: number;
  readonly stats: HistoryStats;
  readonly failure: FailureReport | undefined;
}
