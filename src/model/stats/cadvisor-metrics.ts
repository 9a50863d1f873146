import { BLANK_LABELS, type CadvisorEntry, cadvisorEntries } from './cadvisor-entries.js';
import type { Limit } from './cgroup-usage.js';
import { labelText, type MetricFamily, type Series, withLabel } from './exposition.js';
import { fileSystemMetrics } from './file-system-metrics.js';
import { machineMetrics, scrapeError } from './machine-metrics.js';
import type { NodeSample } from './node-sample.js';
import type { InterfaceFigures } from './proc-files.js';

/**
 * Yields the families of `/metrics/cadvisor`, one by one: with many pods all of them at once would hold up the process. A series
 * whose figure is unknown is left out.
 *
 * Source: github.com/google/cadvisor metrics/prometheus.go, pkg/kubelet/server/server.go containerPrometheusLabelsFunc
 */
export function* cadvisorMetrics(sample: NodeSample): Generator<MetricFamily> {
  const entries = cadvisorEntries(sample);
  for (const [name, type, help, valueOf] of SINGLE) {
    yield {
      name: `container_${name}`,
      type,
      help,
      series: entries.flatMap((entry): readonly Series[] => {
        const value = valueOf(entry);
        return value === undefined ? [] : [{ labels: entry.labels, value, ...timeOf(name, entry) }];
      }),
    };
  }
  yield* labelledFamilies(entries, sample.machine?.devices ?? new Map());
  yield* fileSystemMetrics(labelText({ ...BLANK_LABELS, id: '/' }), sample.fileSystems);
  yield* networkFamilies(entries);
  yield* machineMetrics(sample.machine);
  yield scrapeError(sample.problems);
}

/** Settings and start times are not sampled. */
const timeOf = (name: string, { timeMs }: CadvisorEntry): Pick<Series, 'timeMs'> =>
  name.startsWith('spec_') || name === 'start_time_seconds' ? {} : { timeMs };

type Row = readonly [
  name: string,
  type: MetricFamily['type'],
  help: string,
  valueOf: (entry: CadvisorEntry) => number | undefined,
];

const seconds = (nanoseconds: number | undefined): number | undefined =>
  nanoseconds === undefined ? undefined : nanoseconds / 1e9;
const secondsOfMicros = (microseconds: number | undefined): number | undefined =>
  microseconds === undefined ? undefined : microseconds / 1e6;
/** Without a limit the value is 0. */
const limited = (limit: Limit): number | undefined => (limit === 'none' ? 0 : limit);

/** The families with one series for each cgroup. */
const SINGLE: readonly Row[] = [
  [
    'cpu_user_seconds_total',
    'counter',
    'Seconds of CPU time in user mode.',
    ({ cgroup }) => seconds(cgroup?.cpu.userNs),
  ],
  [
    'cpu_system_seconds_total',
    'counter',
    'Seconds of CPU time in the kernel.',
    ({ cgroup }) => seconds(cgroup?.cpu.systemNs),
  ],
  ['cpu_cfs_periods_total', 'counter', 'Periods of the CPU quota.', ({ cgroup }) => cgroup?.cpu.periods],
  [
    'cpu_cfs_throttled_periods_total',
    'counter',
    'Periods that used up the CPU quota.',
    ({ cgroup }) => cgroup?.cpu.throttledPeriods,
  ],
  [
    'cpu_cfs_throttled_seconds_total',
    'counter',
    'Seconds of waiting for the next period of the CPU quota.',
    ({ cgroup }) => seconds(cgroup?.cpu.throttledNs),
  ],
  [
    'cpu_cfs_burst_periods_total',
    'counter',
    'Periods that used more than the CPU quota.',
    ({ cgroup }) => cgroup?.cpu.burstPeriods,
  ],
  [
    'cpu_cfs_burst_seconds_total',
    'counter',
    'Seconds of CPU time above the quota.',
    ({ cgroup }) => seconds(cgroup?.cpu.burstNs),
  ],
  [
    'memory_working_set_bytes',
    'gauge',
    'Bytes of the working set.',
    ({ cgroup, usage }) => cgroup?.memory.workingSet ?? usage?.workingSet,
  ],
  [
    'memory_usage_bytes',
    'gauge',
    'Bytes of memory with caches.',
    ({ cgroup, usage }) => cgroup?.memory.usage ?? usage?.memoryUsage,
  ],
  ['memory_rss', 'gauge', 'Bytes of anonymous memory.', ({ cgroup, usage }) => cgroup?.memory.rss ?? usage?.rss],
  ['memory_cache', 'gauge', 'Bytes of cached files.', ({ cgroup }) => cgroup?.memory.cache],
  ['memory_swap', 'gauge', 'Bytes of swap.', ({ cgroup, usage }) => cgroup?.memory.swap ?? usage?.swapUsage],
  ['memory_mapped_file', 'gauge', 'Bytes of mapped files.', ({ cgroup }) => cgroup?.memory.mappedFile],
  [
    'memory_total_active_file_bytes',
    'gauge',
    'Bytes of cached files in use.',
    ({ cgroup }) => cgroup?.memory.activeFile,
  ],
  [
    'memory_total_inactive_file_bytes',
    'gauge',
    'Bytes of cached files that may be dropped.',
    ({ cgroup }) => cgroup?.memory.inactiveFile,
  ],
  ['memory_max_usage_bytes', 'gauge', 'The most bytes of memory so far.', ({ cgroup }) => cgroup?.memory.maxUsage],
  ['memory_kernel_usage', 'gauge', 'Bytes of memory of the kernel.', ({ cgroup }) => cgroup?.memory.kernel],
  ['memory_failcnt', 'counter', 'Allocations that reached the memory limit.', ({ cgroup }) => cgroup?.memory.failures],
  ['oom_events_total', 'counter', 'Processes that the kernel killed without memory.', ({ cgroup }) => cgroup?.oomKills],
  ['processes', 'gauge', 'Processes.', ({ processes }) => processes],
  ['file_descriptors', 'gauge', 'Open descriptors.', ({ openFiles }) => openFiles?.descriptors],
  ['sockets', 'gauge', 'Open sockets.', ({ openFiles }) => openFiles?.sockets],
  ['threads', 'gauge', 'Threads.', ({ cgroup }) => cgroup?.tasks],
  ['threads_max', 'gauge', 'The limit of threads, 0 without one.', ({ cgroup }) => limited(cgroup?.tasksLimit)],
  [
    'start_time_seconds',
    'gauge',
    'The start in Unix seconds.',
    ({ startedAtMs }) => (startedAtMs === undefined ? undefined : startedAtMs / 1_000),
  ],
  ['last_seen', 'gauge', 'The time of the sample in Unix seconds.', ({ timeMs }) => Math.floor(timeMs / 1_000)],
  [
    'spec_cpu_period',
    'gauge',
    'The period of the CPU quota in microseconds.',
    ({ cgroup }) => cgroup?.cpu.periodMicros,
  ],
  ['spec_cpu_quota', 'gauge', 'The CPU quota in microseconds per period.', ({ cgroup }) => cgroup?.cpu.quotaMicros],
  ['spec_cpu_shares', 'gauge', 'The CPU shares.', ({ cgroup }) => cgroup?.cpu.shares],
  [
    'spec_memory_limit_bytes',
    'gauge',
    'The memory limit in bytes, 0 without one.',
    ({ cgroup }) => limited(cgroup?.memory.limit),
  ],
  [
    'spec_memory_swap_limit_bytes',
    'gauge',
    'The swap limit in bytes, 0 without one.',
    ({ cgroup }) => limited(cgroup?.memory.swapLimit),
  ],
  [
    'spec_memory_reservation_limit_bytes',
    'gauge',
    'The soft memory limit in bytes, 0 without one.',
    ({ cgroup }) => limited(cgroup?.memory.reservation),
  ],
  [
    'pressure_cpu_waiting_seconds_total',
    'counter',
    'Seconds in which some tasks waited for the CPU.',
    ({ cgroup }) => secondsOfMicros(cgroup?.cpuPressure?.some.total),
  ],
  [
    'pressure_cpu_stalled_seconds_total',
    'counter',
    'Seconds in which all tasks waited for the CPU.',
    ({ cgroup }) => secondsOfMicros(cgroup?.cpuPressure?.full.total),
  ],
  [
    'pressure_memory_waiting_seconds_total',
    'counter',
    'Seconds in which some tasks waited for memory.',
    ({ cgroup }) => secondsOfMicros(cgroup?.memoryPressure?.some.total),
  ],
  [
    'pressure_memory_stalled_seconds_total',
    'counter',
    'Seconds in which all tasks waited for memory.',
    ({ cgroup }) => secondsOfMicros(cgroup?.memoryPressure?.full.total),
  ],
  [
    'pressure_io_waiting_seconds_total',
    'counter',
    'Seconds in which some tasks waited for a disk.',
    ({ cgroup }) => secondsOfMicros(cgroup?.ioPressure?.some.total),
  ],
  [
    'pressure_io_stalled_seconds_total',
    'counter',
    'Seconds in which all tasks waited for a disk.',
    ({ cgroup }) => secondsOfMicros(cgroup?.ioPressure?.full.total),
  ],
];

function* labelledFamilies(
  entries: readonly CadvisorEntry[],
  devices: ReadonlyMap<string, string>,
): Generator<MetricFamily> {
  yield {
    name: 'container_cpu_usage_seconds_total',
    type: 'counter',
    help: 'Seconds of CPU time.',
    series: entries.flatMap(({ labels, timeMs, cgroup, usage }) => {
      const value = seconds(cgroup?.cpu.usageNs ?? usage?.cpuNs);
      return value === undefined ? [] : [{ labels: withLabel(labels, 'cpu', 'total'), value, timeMs }];
    }),
  };
  yield {
    name: 'container_memory_failures_total',
    type: 'counter',
    help: 'Page faults.',
    series: entries.flatMap(({ labels, timeMs, cgroup }) =>
      FAULTS.flatMap(([scope, type, of]) => {
        const value = cgroup?.memory[of];
        const ofFault = withLabel(withLabel(labels, 'scope', scope), 'failure_type', type);
        return value === undefined ? [] : [{ labels: ofFault, value, timeMs }];
      }),
    ),
  };
  yield {
    name: 'container_ulimits_soft',
    type: 'gauge',
    help: 'The soft limits of the first process, -1 without a limit.',
    series: entries.flatMap(({ labels, timeMs, openFiles }) => {
      const value = openFiles?.softLimit;
      return value === undefined ? [] : [{ labels: withLabel(labels, 'ulimit', 'max_open_files'), value, timeMs }];
    }),
  };
  for (const [name, help, of] of TRANSFERS) {
    yield {
      name: `container_fs_${name}_total`,
      type: 'counter',
      help,
      series: entries.flatMap(({ labels, timeMs, cgroup }) =>
        (cgroup?.devices ?? []).map((device) => ({
          labels: withLabel(labels, 'device', pathOf(device.device, devices)),
          value: device[of],
          timeMs,
        })),
      ),
    };
  }
  yield {
    name: 'container_blkio_device_usage_total',
    type: 'counter',
    help: 'Bytes read and written.',
    series: entries.flatMap(({ labels, timeMs, cgroup }) =>
      (cgroup?.devices ?? []).flatMap(({ device, readBytes, writeBytes }) => {
        const [major = '', minor = ''] = device.split(':');
        const ofDevice = withLabel(
          withLabel(withLabel(labels, 'minor', minor), 'major', major),
          'device',
          pathOf(device, devices),
        );
        return [
          { labels: withLabel(ofDevice, 'operation', 'Read'), value: readBytes, timeMs },
          { labels: withLabel(ofDevice, 'operation', 'Write'), value: writeBytes, timeMs },
        ];
      }),
    ),
  };
}

const FAULTS = [
  ['container', 'pgfault', 'pageFaults'],
  ['container', 'pgmajfault', 'majorPageFaults'],
  ['hierarchy', 'pgfault', 'hierarchyPageFaults'],
  ['hierarchy', 'pgmajfault', 'hierarchyMajorPageFaults'],
] as const;

const TRANSFERS = [
  ['reads', 'Reads from a device.', 'reads'],
  ['writes', 'Writes to a device.', 'writes'],
  ['reads_bytes', 'Bytes read from a device.', 'readBytes'],
  ['writes_bytes', 'Bytes written to a device.', 'writeBytes'],
] as const;

const pathOf = (device: string, names: ReadonlyMap<string, string>): string => {
  const name = names.get(device);
  return name === undefined ? device : `/dev/${name}`;
};

const INTERFACES: readonly (readonly [
  name: string,
  help: string,
  valueOf: (of: InterfaceFigures) => number | undefined,
])[] = [
  ['receive_bytes', 'Bytes received.', ({ rxBytes }) => rxBytes],
  ['receive_packets', 'Packets received.', ({ rxPackets }) => rxPackets],
  ['receive_packets_dropped', 'Packets dropped while receiving.', ({ rxDropped }) => rxDropped],
  ['receive_errors', 'Errors while receiving.', ({ rxErrors }) => rxErrors],
  ['transmit_bytes', 'Bytes sent.', ({ txBytes }) => txBytes],
  ['transmit_packets', 'Packets sent.', ({ txPackets }) => txPackets],
  ['transmit_packets_dropped', 'Packets dropped while sending.', ({ txDropped }) => txDropped],
  ['transmit_errors', 'Errors while sending.', ({ txErrors }) => txErrors],
];

function* networkFamilies(entries: readonly CadvisorEntry[]): Generator<MetricFamily> {
  for (const [name, help, valueOf] of INTERFACES) {
    yield {
      name: `container_network_${name}_total`,
      type: 'counter',
      help,
      series: entries.flatMap(({ labels, network }) =>
        (network?.interfaces ?? []).flatMap((of) => {
          const value = valueOf(of);
          return value === undefined || !network
            ? []
            : [{ labels: withLabel(labels, 'interface', of.name), value, timeMs: network.timeMs }];
        }),
      ),
    };
  }
}
