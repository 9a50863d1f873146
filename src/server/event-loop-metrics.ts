import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/** The sampling period in milliseconds. Shorter delays are not measured; each sample costs some microseconds of CPU. */
const RESOLUTION_MS = 20;

/**
 * The delay of the event loop, caused by work of the agent's own thread or by a busy machine. During a delay no probe
 * is sent, no signal is handled and no pod is synced.
 *
 * The values cover the time since the last scrape but one, in seconds, so a long delay does not hide those of the next
 * hour.
 */
export const registerEventLoopDelay = (registry: Registry): void => {
  // A histogram misses a delay that begins just after its reset. So there are two, and each scrape resets the one that
  // it has read.
  let [read, next] = [startHistogram(), startHistogram()];
  new Gauge({
    name: 'rx_kubelet_event_loop_delay_seconds',
    help: 'How late the event loop was since the last scrape but one; the percentile 100 is the longest delay.',
    // Prometheus keeps `quantile` for summaries, which count from the start.
    labelNames: ['percentile'],
    registers: [registry],
    collect() {
      for (const [percentile, nanoseconds] of [
        ['50', read.percentile(50)],
        ['99.9', read.percentile(99.9)],
        ['100', read.max],
      ] as const) {
        // The histogram measures the time between two samples, which includes the period.
        this.set({ percentile }, Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000));
      }
      read.reset();
      [read, next] = [next, read];
    },
  });
};

const startHistogram = (): IntervalHistogram => {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return histogram;
};
