import { type MetricFamily, type Series, withLabel } from './exposition.js';
import type { MountedFileSystem } from './node-sample.js';
import type { DiskTransfers } from './proc-files.js';

type Row = readonly [
  name: string,
  type: MetricFamily['type'],
  help: string,
  valueOf: (fileSystem: MountedFileSystem) => number | undefined,
];

const ofTransfers =
  (valueOf: (transfers: DiskTransfers) => number) =>
  ({ transfers }: MountedFileSystem): number | undefined =>
    transfers && valueOf(transfers);

const ROWS: readonly Row[] = [
  ['usage_bytes', 'gauge', 'Bytes in use.', ({ space }) => space.usedBytes],
  ['limit_bytes', 'gauge', 'Bytes of the file system.', ({ space }) => space.capacityBytes],
  ['inodes_total', 'gauge', 'Inodes of the file system.', ({ space }) => space.inodes],
  ['inodes_free', 'gauge', 'Free inodes.', ({ space }) => space.inodesFree],
  ['sector_reads_total', 'counter', 'Sectors read.', ofTransfers(({ sectorsRead }) => sectorsRead)],
  ['reads_merged_total', 'counter', 'Reads merged with others.', ofTransfers(({ readsMerged }) => readsMerged)],
  ['read_seconds_total', 'counter', 'Seconds of all reads.', ofTransfers(({ readMs }) => readMs / 1_000)],
  ['sector_writes_total', 'counter', 'Sectors written.', ofTransfers(({ sectorsWritten }) => sectorsWritten)],
  ['writes_merged_total', 'counter', 'Writes merged with others.', ofTransfers(({ writesMerged }) => writesMerged)],
  ['write_seconds_total', 'counter', 'Seconds of all writes.', ofTransfers(({ writeMs }) => writeMs / 1_000)],
  ['io_current', 'gauge', 'Transfers in progress.', ofTransfers(({ inProgress }) => inProgress)],
  ['io_time_seconds_total', 'counter', 'Seconds with transfers.', ofTransfers(({ busyMs }) => busyMs / 1_000)],
  [
    'io_time_weighted_seconds_total',
    'counter',
    'Seconds with transfers, times their number.',
    ofTransfers(({ weightedMs }) => weightedMs / 1_000),
  ],
];

/**
 * Yields the families of the file systems of the node, whose series have the labels of the root cgroup. cAdvisor writes the
 * times a million times too small: it takes milliseconds for nanoseconds.
 *
 * Source: github.com/google/cadvisor metrics/prometheus.go fsValues, ioValues; container/raw/handler.go getFsStats
 */
export function* fileSystemMetrics(labels: string, fileSystems: readonly MountedFileSystem[]): Generator<MetricFamily> {
  for (const [name, type, help, valueOf] of ROWS) {
    yield {
      name: `container_fs_${name}`,
      type,
      help,
      series: fileSystems.flatMap((fileSystem): readonly Series[] => {
        const value = valueOf(fileSystem);
        if (value === undefined) return [];
        return [{ labels: withLabel(labels, 'device', fileSystem.source), value, timeMs: fileSystem.timeMs }];
      }),
    };
  }
}
