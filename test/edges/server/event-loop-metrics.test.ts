import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, expect, it, vi } from 'vitest';
import { registerEventLoopDelay } from '../../../src/server/metrics/event-loop-metrics.js';

const HELD_UP_MS = 300;
const TEN_MINUTES_MS = 600_000;
afterEach(() => void vi.useRealTimers());

const holdUp = (): void => {
  const until = performance.now() + HELD_UP_MS;
  while (performance.now() < until);
};

/** The values of a scrape, by their percentiles. */
const scraped = async (registry: Registry): Promise<ReadonlyMap<unknown, number>> => {
  const { values } = await registry.getSingleMetric('rx_kubelet_event_loop_delay_seconds')!.get();
  return new Map(values.map(({ labels, value }) => [labels.percentile, value]));
};

it('has the longest delay of the event loop, also of one that begins just after a scrape', async () => {
  const registry = new Registry();
  registerEventLoopDelay(registry);
  const longest = async (): Promise<number> => (await scraped(registry)).get('100')!;
  await scraped(registry);
  // The first look at the loop has to come before the work that holds it up.
  await wait(50);
  await longest();
  holdUp();
  await wait(50);
  expect(await longest()).toBeGreaterThan(HELD_UP_MS / 2 / 1000);

  // It is shown by two scrapes at most; a busy machine may be late again for reasons of its own.
  await expect.poll(longest, { timeout: 90_000 }).toBeLessThan(HELD_UP_MS / 2 / 1000);
});

it('looks at the loop from the first scrape on, and no longer ten minutes after the last one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const histograms: IntervalHistogram[] = [];
  const registry = new Registry();
  registerEventLoopDelay(registry, (options) => {
    const histogram = monitorEventLoopDelay(options);
    histograms.push(histogram);
    return histogram;
  });
  const percentiles = async (): Promise<readonly unknown[]> => [...(await scraped(registry)).keys()];
  expect(histograms).toEqual([]);
  expect(await percentiles()).toEqual([]);
  expect(await percentiles()).toEqual(['50', '99.9', '100']);
  vi.advanceTimersByTime(TEN_MINUTES_MS - 1);
  expect(await percentiles()).toEqual(['50', '99.9', '100']);
  vi.advanceTimersByTime(TEN_MINUTES_MS);
  // What is off already cannot be turned off.
  expect(histograms.map((histogram) => histogram.disable())).toEqual([false, false]);
  expect(await percentiles()).toEqual([]);
  expect(await percentiles()).toEqual(['50', '99.9', '100']);
  for (const histogram of histograms) histogram.disable();
});
