import { randomInt } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { type FailureReport, investigateFailure } from '../../src/tools/sim/histories/investigate-failure.js';
import { readHistory } from '../../src/tools/sim/histories/read-history.js';
import { runHistory } from '../../src/tools/sim/histories/run-history.js';
import { FlagError, kindFlag, readFlags, type SimulateFlags, USAGE } from './flags.js';
import { failureText, Tally } from './report.js';
import type { SeedBatch, SeedReport } from './seed-report.js';

const FAILED = 1;
const MISUSED = 2;
/** The number of failures after which further seeds are skipped. */
const MOST_FAILURES = 3;
/** The number of seeds that a worker gets at a time. */
const BATCH = 8;
const PROGRESS_MS = 5_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Runs the command; returns its exit code. `worker` is the file of each thread. */
export const main = async (args: readonly string[], worker: URL): Promise<number> => {
  try {
    const flags = readFlags(args, availableParallelism());
    if (flags === 'help') {
      say(USAGE);
      return 0;
    }
    return flags.history === undefined ? await simulateSeeds(flags, worker) : simulateFile(flags.history);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    process.stderr.write(`simulate: ${error.message}\n\n${USAGE}`);
    return MISUSED;
  }
};

const simulateFile = (file: string): number => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new FlagError(`--history ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const history = readHistory(text);
  if (typeof history === 'string') throw new FlagError(`--history ${file}: ${history}`);
  const failure = investigateFailure(history);
  if (!failure) {
    const { stats } = runHistory(history);
    say(`${file}: nothing is violated in ${stats.virtualMs / 1000} s of virtual time, ${stats.events} events`);
    return 0;
  }
  say(failureText({ what: file, failure, repeat: `npm run simulate -- --history ${file}` }));
  return FAILED;
};

const simulateSeeds = async (flags: SimulateFlags, worker: URL): Promise<number> => {
  const from = flags.from ?? randomInt(2 ** 30);
  const isOne = flags.seeds === 1 && flags.from !== undefined;
  const until = flags.seeds >= 2 ** 31 ? 'on' : `to ${from + flags.seeds - 1}`;
  if (!isOne) say(`seeds ${from} ${until}${flags.from === undefined ? ' (drawn)' : ''}, ${flags.workers} workers`);
  const tally = new Tally();
  const began = performance.now();
  const progress = setInterval(() => say(tally.progress(performance.now() - began)), PROGRESS_MS);
  let failures = 0;
  try {
    await inWorkers({ ...flags, from, worker }, (report) => {
      tally.add(report);
      if (!report.failure) return true;
      say(keep(report.seed, report.failure, flags));
      return ++failures < Math.max(MOST_FAILURES, flags.tolerate + 1);
    });
  } finally {
    clearInterval(progress);
  }
  say(tally.total(performance.now() - began));
  if (!isOne)
    say(`repeat with: npm run simulate -- ${kindFlag(flags.kind)}--from ${from} --seeds ${Math.max(1, tally.seeds)}`);
  return failures > flags.tolerate ? FAILED : 0;
};

/** The text of a failure, whose shortest history is written to a file. */
const keep = (seed: number, failure: FailureReport, { kind }: Pick<SimulateFlags, 'kind'>): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'rx-kubelet-history-')), `${seed}.json`);
  writeFileSync(file, `${JSON.stringify(failure.history, undefined, 2)}\n`);
  const repeat = `npm run simulate -- ${kindFlag(kind)}--seed ${seed}`;
  return failureText({ what: `seed ${seed}`, failure, repeat, shortest: `npm run simulate -- --history ${file}` });
};

interface Work {
  readonly from: number;
  readonly seeds: number;
  readonly timeMs: number;
  readonly workers: number;
  readonly worker: URL;
  readonly kind: SimulateFlags['kind'];
}

/** Distributes the seeds in order; the callback returns whether to go on. Errors: those of a worker. */
const inWorkers = async (
  { from, seeds, timeMs, workers, worker, kind }: Work,
  hear: (report: SeedReport) => boolean,
): Promise<void> => {
  const endsAt = performance.now() + timeMs;
  let next = from;
  let isOver = false;
  const batch = (): readonly number[] => {
    if (isOver || performance.now() >= endsAt) return [];
    const size = Math.min(BATCH, from + seeds - next);
    const numbers = Array.from({ length: size }, (_, index) => next + index);
    next += size;
    return numbers;
  };
  const runOne = async (): Promise<void> => {
    const thread = new Worker(worker);
    try {
      await new Promise<void>((resolve, reject) => {
        const give = (): void => {
          const numbers = batch();
          if (numbers.length === 0) resolve();
          else thread.postMessage({ seeds: numbers, kind } satisfies SeedBatch);
        };
        thread.on('error', reject);
        thread.on('message', (message: SeedReport | 'idle') => {
          if (message === 'idle') give();
          else if (!isOver && !hear(message)) {
            isOver = true;
            resolve();
          }
        });
        give();
      });
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, seeds) }, runOne));
};
