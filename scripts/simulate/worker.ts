import { parentPort } from 'node:worker_threads';
import { generateClusterHistory } from '../../src/tools/sim/histories/generate-cluster-history.js';
import { generateHistory } from '../../src/tools/sim/histories/generate-history.js';
import type { History } from '../../src/tools/sim/histories/history.js';
import { investigateFailure } from '../../src/tools/sim/histories/investigate-failure.js';
import { runHistory } from '../../src/tools/sim/histories/run-history.js';
import type { SeedBatch, SeedReport } from './seed-report.js';

/** Runs the seeds of each message, one after the other, and answers with a report for each. */
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
