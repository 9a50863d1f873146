import { monitorEventLoopDelay } from 'node:perf_hooks';

/** An idle process. For each line of its input it prints the delay of its loop since the last line. */
const RESOLUTION_MS = 20;
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();
process.stdin.on('data', () => {
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  process.stdout.write(`${JSON.stringify({ p999: late(histogram.percentile(99.9)), longest: late(histogram.max) })}\n`);
  histogram.reset();
});
