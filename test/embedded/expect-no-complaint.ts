import { expect } from 'vitest';
import { samplesIn } from '../support/lint-exposition.js';
import { complaintsAbout, OF_UPSTREAM } from '../support/names-of-upstream.js';
import { eventually } from './eventually.js';
import { promtoolVerdict } from './promtool.js';
import { scrape, seriesNamed } from './scraped.js';

/** Each path of metrics, with a series that is there once a pod with a probe runs and `/healthz` was asked for. */
const PATHS = [
  ['/metrics', 'kubelet_running_pods'],
  ['/metrics/cadvisor', 'container_cpu_usage_seconds_total'],
  ['/metrics/probes', 'prober_probe_total'],
  ['/metrics/resource', 'pod_cpu_usage_seconds_total'],
  ['/metrics/slis', 'kubernetes_healthcheck'],
] as const;

/** The text without the families of these names. */
const withoutFamilies = (text: string, names: ReadonlySet<string>): string => {
  const lines: string[] = [];
  let isLeftOut = false;
  for (const line of text.split('\n')) {
    const [, name] = /^# HELP (\S+)/.exec(line) ?? [];
    if (name !== undefined) isLeftOut = names.has(name);
    if (!isLeftOut) lines.push(line);
  }
  return `${lines.join('\n').trimEnd()}\n`;
};

/**
 * Asks promtool about each path of metrics of a port. Without the families of `OF_UPSTREAM` it ends with 0; with them it complains as is
 * written there, and about nothing else.
 */
export const expectNoComplaint = async (port: number): Promise<void> => {
  await scrape(port, '/healthz');
  const known = new Set(OF_UPSTREAM.map(({ name }) => name));
  for (const [path, series] of PATHS) {
    const text = await eventually(`${path} has ${series}`, async () => {
      const scraped = await scrape(port, path);
      return seriesNamed(scraped, series).length > 0 && scraped;
    });
    expect([path, promtoolVerdict(withoutFamilies(text, known))]).toEqual([path, { code: 0, said: [] }]);
    const there = new Set(samplesIn(text).flatMap(({ name }) => [name, name.replace(/_bucket$/, '')]));
    const said = new Set(promtoolVerdict(text).said);
    expect([path, [...said].toSorted()]).toEqual([path, complaintsAbout([...there]).toSorted()]);
  }
};
