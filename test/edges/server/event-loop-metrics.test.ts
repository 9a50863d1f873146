import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { registerEventLoopDelay } from '../../../src/server/event-loop-metrics.js';

const HELD_UP_MS = 300;

const holdUp = (): void => {
  const until = performance.now() + HELD_UP_MS;
  while (performance.now() < until);
};

it('tells the longest delay of the event loop, also of one that begins just after a scrape', async () => {
  const registry = new Registry();
  registerEventLoopDelay(registry);
  const longest = async () => {
    const { values } = await registry.getSingleMetric('rx_kubelet_event_loop_delay_seconds')!.get();
    return values.find(({ labels }) => labels.percentile === '100')!.value;
  };
  // The first look at the loop has to come before the work that holds it up.
  await wait(50);
  await longest();
  holdUp();
  await wait(50);
  expect(await longest()).toBeGreaterThan(HELD_UP_MS / 2 / 1000);

  // It is told for two scrapes at most; a busy machine may be late again for reasons of its own.
  await expect.poll(longest, { timeout: 90_000 }).toBeLessThan(HELD_UP_MS / 2 / 1000);
});
