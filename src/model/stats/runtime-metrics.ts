import type { Metric, MetricDescriptor, PodSandboxMetrics } from '../../generated/runtime/v1/api.js';
import { labelText, type MetricFamily, type Series } from './exposition.js';
import { machineMetrics, scrapeError } from './machine-metrics.js';
import type { MachineSample } from './node-sample.js';

export interface RuntimeMetrics {
  readonly families: readonly MetricFamily[];
  /** One for each name with series that had to be left out, with the reason for the first of them. */
  readonly problems: readonly string[];
}

/** Source: github.com/prometheus/common model/metric.go */
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

interface Family {
  readonly type: MetricFamily['type'];
  /** By their labels. */
  readonly series: Map<string, Series>;
}

/**
 * Returns the series that the runtime has made for the pods, in the order of its descriptors. A series without a descriptor, with another number of
 * labels, of a second type, with a name that is none, or with the labels of an earlier one is left out: Prometheus would refuse the whole reply. A time
 * of 0 is that of the scrape.
 *
 * Source: pkg/kubelet/metrics/collectors/cri_metrics.go
 */
export const runtimeMetrics = (
  descriptors: readonly MetricDescriptor[],
  pods: readonly PodSandboxMetrics[],
): RuntimeMetrics => {
  const known = new Map(descriptors.map((descriptor) => [descriptor.name, descriptor]));
  const families = new Map<string, Family>();
  const refused = new Map<string, string>();

  const take = (metric: Metric): void => {
    const { name } = metric;
    const why = problemOf(metric, known.get(name)) ?? add(metric, known.get(name)?.labelKeys ?? []);
    if (why !== undefined && !refused.has(name)) refused.set(name, why);
  };
  const add = (metric: Metric, keys: readonly string[]): string | undefined => {
    const type = metric.metricType === 'GAUGE' ? 'gauge' : 'counter';
    const family = families.get(metric.name) ?? { type, series: new Map<string, Series>() };
    families.set(metric.name, family);
    if (family.type !== type) return `it is a ${type} (expected ${family.type})`;
    const labels = labelText(Object.fromEntries(keys.map((key, index) => [key, metric.labelValues[index] ?? ''])));
    if (family.series.has(labels)) return `its labels ${labels} are there twice`;
    family.series.set(labels, { labels, value: Number(metric.value?.value ?? 0n), ...timeOf(metric) });
    return undefined;
  };

  for (const { metrics, containerMetrics } of pods) {
    metrics.forEach(take);
    for (const container of containerMetrics) container.metrics.forEach(take);
  }
  return {
    families: [...known.values()].flatMap(({ name, help }) => {
      const family = families.get(name);
      return family ? [{ name, help: escaped(help), type: family.type, series: [...family.series.values()] }] : [];
    }),
    problems: [...refused].map(([name, why]) => `metric ${JSON.stringify(name)} of the runtime: ${why}`),
  };
};

const problemOf = ({ name, labelValues }: Metric, descriptor: MetricDescriptor | undefined): string | undefined => {
  if (!descriptor) return 'it has no descriptor';
  if (!METRIC_NAME.test(name)) return 'it has no valid name';
  const { labelKeys } = descriptor;
  const wrong = labelKeys.find((key) => !LABEL_NAME.test(key));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} is no name of a label`;
  return labelKeys.length === labelValues.length
    ? undefined
    : `it has ${labelValues.length} labels (expected ${labelKeys.length})`;
};

const timeOf = ({ timestamp }: Metric): Pick<Series, 'timeMs'> =>
  timestamp === 0n ? {} : { timeMs: Number(timestamp / 1_000_000n) };

/** A help text is one line. */
const escaped = (help: string): string => help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** Yields the families of `/metrics/cadvisor` when those of containers are the runtime's. */
export function* metricsOfRuntime({
  families,
  machine,
  problems,
}: RuntimeMetrics & { readonly machine?: MachineSample }): Generator<MetricFamily> {
  yield* families;
  yield* machineMetrics(machine);
  yield scrapeError(problems);
}
