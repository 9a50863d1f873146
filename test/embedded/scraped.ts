import { type SampleLine, samplesIn } from '../support/lint-exposition.js';

/** The text of a path of the read-only port. Errors: any status but 200. */
export const scrape = async (port: number, path: string): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
  return body;
};

/** The samples of one name in a text, of one pod if it is given. */
export const seriesNamed = (text: string, name: string, pod?: string): readonly SampleLine[] =>
  samplesIn(text).filter((sample) => sample.name === name && (pod === undefined || sample.labels.pod === pod));

/** Two reads of a counter of a container, as metrics-server takes a rate: usage and time of both. Undefined until the counter has grown. */
export const rateOf = (before: string, after: string, pod: string): number | undefined => {
  const [first, second] = [before, after].map((text) =>
    seriesNamed(text, 'container_cpu_usage_seconds_total', pod).find(({ labels }) => labels.container === 'main'),
  );
  if (!first || !second || first.timeMs === undefined || second.timeMs === undefined) return undefined;
  if (second.timeMs <= first.timeMs || second.value <= first.value) return undefined;
  return (second.value - first.value) / ((second.timeMs - first.timeMs) / 1_000);
};

interface Amounts {
  readonly cpu?: { readonly usageNanoCores?: number; readonly usageCoreNanoSeconds?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}
export interface ScrapedPod extends Amounts {
  readonly podRef: { readonly name: string };
  readonly containers: readonly (Amounts & { readonly name: string; readonly startTime: string })[];
}
export interface ScrapedSummary {
  readonly node: Amounts & { readonly nodeName: string };
  readonly pods: readonly ScrapedPod[];
}

/** Holds 20 MB, and uses one core. */
export const BURN = 'x=$(head -c 20000000 /dev/zero | tr "\\0" a); while :; do :; done';
export const HELD_BYTES = 20_000_000;
