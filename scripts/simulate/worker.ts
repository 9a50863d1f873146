import { parentPort } from 'node:worker_threads';
import { generateHistory } from '../../src/sim/histories/generate-history.js';
import { investigateFailure } from '../../src/sim/histories/investigate-failure.js';
import { runHistory } from '../../src/sim/histories/run-history.js';
import type { SeedReport } from './seed-report.js';

/** Runs the seeds that it is sent, one list after the other, and answers with a report for each. */
parentPort?.on('message', (seeds: readonly number[]) => {
  for (const seed of seeds) parentPort?.postMessage(report(seed));
  parentPort?.postMessage('idle');
});

const report = (seed: number): SeedReport => {
  const history = generateHistory(seed);
  const { violations, stats } = runHistory(history);
  const failure = violations.length === 0 ? undefined : investigateFailure(history);
  return { seed, stats, failure };
};
