import { noMetrics } from '../../src/streams/ports/metrics.js';
import type { Metrics } from '../../src/streams/ports/metrics.js';

/** Metrics that write down each observation as `<name> <arguments>`. */
export const metricLines = (): { readonly metrics: Metrics; readonly lines: string[] } => {
  const lines: string[] = [];
  const names = Object.keys(noMetrics) as (keyof Metrics)[];
  const metrics = Object.fromEntries(
    names.map((name) => [name, (...args: unknown[]) => lines.push([name, ...args.map(text)].join(' '))]),
  ) as unknown as Metrics;
  return { metrics, lines };
};

const text = (value: unknown): string => (/string|bigint/.test(typeof value) ? String(value) : JSON.stringify(value));
