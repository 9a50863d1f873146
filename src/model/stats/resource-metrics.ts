import { labelText, type MetricFamily, type Series } from './exposition.js';
import type { ContainerSample, NodeSample, PodSample } from './node-sample.js';
import type { Usage } from './usage.js';

/**
 * Returns the families of `/metrics/resource`. A sample has its own time, except start times. A series whose figure is
 * unknown is left out.
 *
 * Source: pkg/kubelet/metrics/collectors/resource_metrics.go
 */
export const resourceMetrics = ({ node, pods, problems }: NodeSample): readonly MetricFamily[] => {
  const nodes = node.usage ? [{ labels: '', usage: node.usage }] : [];
  const podEntries = pods.flatMap((pod) => (pod.usage ? [{ labels: podLabels(pod), usage: pod.usage }] : []));
  const containers = pods.flatMap((pod) =>
    pod.containers.flatMap((container) => ({ ...container, labels: containerLabels(pod, container) })),
  );
  const containerEntries = containers.flatMap(({ labels, usage }) => (usage ? [{ labels, usage }] : []));
  return [
    family('node_cpu_usage_seconds_total', 'counter', 'Seconds of CPU time of the node.', nodes, cpuSeconds),
    family('node_memory_working_set_bytes', 'gauge', 'Bytes of the working set of the node.', nodes, workingSet),
    family('node_swap_usage_bytes', 'gauge', 'Bytes of swap of the node.', nodes, swapUsage),
    family('container_cpu_usage_seconds_total', 'counter', 'Seconds of CPU time.', containerEntries, cpuSeconds),
    family('container_memory_working_set_bytes', 'gauge', 'Bytes of the working set.', containerEntries, workingSet),
    family('container_swap_usage_bytes', 'gauge', 'Bytes of swap.', containerEntries, swapUsage),
    family('container_swap_limit_bytes', 'gauge', 'The limit of swap in bytes.', containerEntries, swapLimit),
    {
      name: 'container_start_time_seconds',
      type: 'gauge',
      help: 'The start of the container in Unix seconds.',
      series: containers.map(({ labels, createdAtMs }) => ({ labels, value: createdAtMs / 1_000 })),
    },
    family('pod_cpu_usage_seconds_total', 'counter', 'Seconds of CPU time of the pod.', podEntries, cpuSeconds),
    family('pod_memory_working_set_bytes', 'gauge', 'Bytes of the working set of the pod.', podEntries, workingSet),
    family('pod_swap_usage_bytes', 'gauge', 'Bytes of swap of the pod.', podEntries, swapUsage),
    {
      name: 'resource_scrape_error',
      type: 'gauge',
      help: '1 if a figure could not be read, else 0.',
      series: [{ labels: '', value: problems.length > 0 ? 1 : 0 }],
    },
  ];
};

interface Entry {
  readonly labels: string;
  readonly usage: Usage;
}

const family = (
  name: string,
  type: MetricFamily['type'],
  help: string,
  entries: readonly Entry[],
  valueOf: (usage: Usage) => number | undefined,
): MetricFamily => ({
  name,
  type,
  help,
  series: entries.flatMap(({ labels, usage }): readonly Series[] => {
    const value = valueOf(usage);
    return value === undefined ? [] : [{ labels, value, timeMs: usage.timeMs }];
  }),
});

const podLabels = ({ ref: { name, namespace } }: PodSample): string => labelText({ namespace, pod: name });

const containerLabels = ({ ref: { name, namespace } }: PodSample, container: ContainerSample): string =>
  labelText({ container: container.name, namespace, pod: name });

const cpuSeconds = ({ cpuNs }: Usage) => (cpuNs === undefined ? undefined : cpuNs / 1e9);
const workingSet = (usage: Usage) => usage.workingSet;
const swapUsage = (usage: Usage) => usage.swapUsage;
const swapLimit = ({ swapUsage: used, swapAvailable }: Usage) =>
  used === undefined || swapAvailable === undefined ? undefined : used + swapAvailable;
