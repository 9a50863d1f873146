import { parentPort } from 'node:worker_threads';
import { generateClusterHistory } from '../../src/sim/histories/generate-cluster-history.js';
import { generateHistory } from '../../src/sim/histories/generate-history.js';
import type { History } from '../../src/sim/histories/history.js';
import { investigateFailure } from '../../src/sim/histories/investigate-failure.js';
import { runHistory } from '../../src/sim/histories/run-history.js';
import type { SeedBatch, SeedReport } from './seed-report.js';

/** Runs the seeds that it is sent, one list after the other, and answers with a report for each. */
parentPort?.on('message', ({ seeds, isCluster }: SeedBatch) => {
  const generate = isCluster ? generateClusterHistory : generateHistory;
  for (const seed of seeds) parentPort?.postMessage(report(seed, generate(seed)));
  parentPort?.postMessage('idle');
});

const report = (seed: number, history: History): SeedReport => {
  const { violations, stats } = runHistory(history);
  const failure = violations.length === 0 ? undefined : investigateFailure(history);
  return { seed, stats, failure };
};
