import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** The sampling period in milliseconds. Shorter delays are not measured; each sample costs some microseconds of CPU. */
const RESOLUTION_MS = 20;
/** After that time without a scrape there is no reader, and each sample would only wake up the agent. */
export const UNREAD_MS = 600_000;

/**
 * The delay of the event loop, caused by work of the agent's own thread or by a busy machine. During a delay no probe
 * is sent, no signal is handled and no pod is synced.
 *
 * The values cover the time since the last scrape but one, in seconds, so a long delay does not hide those of the next
 * hour. The first scrape begins to measure and has no value, and so has one that comes more than ten minutes after the last.
 */
export const registerEventLoopDelay = (registry: Registry, monitor = monitorEventLoopDelay): void => {
  // A histogram misses a delay that begins just after its reset. So there are two, and each scrape resets the one that
  // it has read.
  let histograms: readonly [read: IntervalHistogram, next: IntervalHistogram] | undefined;
  let unread: NodeJS.Timeout | undefined;
  const start = (): IntervalHistogram => {
    const histogram = monitor({ resolution: RESOLUTION_MS });
    histogram.enable();
    return histogram;
  };
  const stop = (): void => {
    for (const histogram of histograms ?? []) histogram.disable();
    histograms = undefined;
  };
  new Gauge({
    name: 'rx_kubelet_event_loop_delay_seconds',
    help: 'How late the event loop was since the last scrape but one; the percentile 100 is the longest delay.',
    // Prometheus keeps `quantile` for summaries, which count from the start.
    labelNames: ['percentile'],
    registers: [registry],
    collect() {
      clearTimeout(unread);
      unread = setTimeout(stop, UNREAD_MS).unref();
      if (!histograms) {
        histograms = [start(), start()];
        this.reset();
        return;
      }
      const [read, next] = histograms;
      for (const [percentile, nanoseconds] of [
        ['50', read.percentile(50)],
        ['99.9', read.percentile(99.9)],
        ['100', read.max],
      ] as const) {
        // The histogram measures the time between two samples, which includes the period.
        this.set({ percentile }, Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000));
      }
      read.reset();
      histograms = [next, read];
    },
  });
};
