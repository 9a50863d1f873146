import { parentPort } from 'node:worker_threads';
import type { History } from '../../src/tools/sim/histories/history.js';
import { GENERATE } from '../../src/tools/sim/histories/history-kinds.js';
import { investigateFailure } from '../../src/tools/sim/histories/investigate-failure.js';
import { runHistory } from '../../src/tools/sim/histories/run-history.js';
import type { SeedBatch, SeedReport } from './seed-report.js';

/** Runs the seeds of each message, one after the other, and answers with a report for each. */
parentPort?.on('message', ({ seeds, kind }: SeedBatch) => {
  for (const seed of seeds) parentPort?.postMessage(report(seed, GENERATE[kind](seed)));
  parentPort?.postMessage('idle');
});

const report = (seed: number, history: History): SeedReport => {
  const { violations, stats } = runHistory(history);
  const failure = violations.length === 0 ? undefined : investigateFailure(history);
  return { seed, stats, failure };
};
