/** The counters of one network interface since it was made. */
export interface InterfaceFigures {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxErrors: number;
  readonly txBytes: number;
  readonly txErrors: number;
  /** Undefined if the source has only bytes and errors. */
  readonly rxPackets: number | undefined;
  readonly rxDropped: number | undefined;
  readonly txPackets: number | undefined;
  readonly txDropped: number | undefined;
}

/**
 * Returns the interfaces of `/proc/<pid>/net/dev`, without loopback, tunnels and the ends of pods on the node.
 *
 * Source: github.com/google/cadvisor container/libcontainer/handler.go setNetworkStats, isIgnoredDevice
 */
export const parseNetDev = (text: string): readonly InterfaceFigures[] =>
  text.split('\n').flatMap((line) => {
    const [, name, rest = ''] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || IGNORED.test(name)) return [];
    const values = rest.trim().split(/\s+/).map(Number);
    const [rxBytes, rxPackets, rxErrors, rxDropped, , , , , txBytes, txPackets, txErrors, txDropped] = values;
    if (txDropped === undefined || values.some(Number.isNaN)) return [];
    return [
      {
        name,
        rxBytes: rxBytes ?? 0,
        rxPackets,
        rxErrors: rxErrors ?? 0,
        rxDropped,
        txBytes: txBytes ?? 0,
        txPackets,
        txErrors: txErrors ?? 0,
        txDropped,
      },
    ];
  });

const IGNORED = /^(lo|veth.*|docker.*|nerdctl.*|sit\d*|tunl\d*|ip6tnl\d*)$/;

export interface MemoryInfo {
  readonly total: number;
  readonly free: number;
  readonly inactiveFile: number | undefined;
  readonly swapTotal: number | undefined;
  readonly swapFree: number | undefined;
}

/** Returns the bytes of `/proc/meminfo`; undefined if it has no total. */
export const parseMemoryInfo = (text: string): MemoryInfo | undefined => {
  const bytes = new Map(
    [...text.matchAll(/^([^:\n]+):\s+(\d+) kB$/gm)].map(([, key = '', kb]) => [key, Number(kb) * 1024]),
  );
  const [total, free] = [bytes.get('MemTotal'), bytes.get('MemFree')];
  if (total === undefined || free === undefined) return undefined;
  return {
    total,
    free,
    inactiveFile: bytes.get('Inactive(file)'),
    swapTotal: bytes.get('SwapTotal'),
    swapFree: bytes.get('SwapFree'),
  };
};

/** The CPU time of the machine in `/proc/stat`, without idle and waiting time, in nanoseconds. */
export const parseCpuTime = (text: string): number | undefined => {
  const [, fields] = /^cpu\s+(.*)$/m.exec(text) ?? [];
  if (fields === undefined) return undefined;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = fields.trim().split(/\s+/).map(Number);
  return (user + nice + system + irq + softirq + steal) * 10_000_000;
};

/** The tasks of the machine in `/proc/loadavg`. Source: pkg/kubelet/stats/pidlimit/pidlimit_linux.go */
export const parseTaskCount = (text: string): number | undefined => {
  const [, tasks] = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(text) ?? [];
  return tasks === undefined ? undefined : Number(tasks);
};

/** The names of block devices in `/proc/diskstats`, by `<major>:<minor>`. */
export const parseDevices = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\S+)/gm)].map(([, major, minor, name = '']) => [`${major}:${minor}`, name]),
  );

/** The transfers of a block device since the boot. Times are milliseconds, and sectors 512 bytes. */
export interface DiskTransfers {
  readonly reads: number;
  readonly readsMerged: number;
  readonly sectorsRead: number;
  readonly readMs: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly sectorsWritten: number;
  readonly writeMs: number;
  readonly inProgress: number;
  /** The time in which some transfer was in progress. */
  readonly busyMs: number;
  /** The same, times the number of transfers. */
  readonly weightedMs: number;
}

/** The transfers in `/proc/diskstats`, by `<major>:<minor>`. Source: github.com/google/cadvisor fs/fs.go getDiskStatsMap */
export const parseDiskTransfers = (text: string): ReadonlyMap<string, DiskTransfers> =>
  new Map(
    text.split('\n').flatMap((line) => {
      const [major, minor, , ...rest] = line.trim().split(/\s+/);
      const [reads, readsMerged, sectorsRead, readMs, writes, writesMerged, sectorsWritten, ...more] = rest.map(Number);
      const [writeMs, inProgress, busyMs, weightedMs] = more;
      if (weightedMs === undefined || rest.slice(0, 11).some((value) => !/^\d+$/.test(value))) return [];
      const transfers = {
        ...{ reads: reads ?? 0, readsMerged: readsMerged ?? 0, sectorsRead: sectorsRead ?? 0, readMs: readMs ?? 0 },
        ...{ writes: writes ?? 0, writesMerged: writesMerged ?? 0, sectorsWritten: sectorsWritten ?? 0 },
        ...{ writeMs: writeMs ?? 0, inProgress: inProgress ?? 0, busyMs: busyMs ?? 0, weightedMs },
      };
      return [[`${major}:${minor}`, transfers] as const];
    }),
  );

/** The soft limit of open files in `/proc/<pid>/limits`, -1 without a limit. Source: cadvisor processLimitsFile, parseUlimit */
export const parseOpenFilesLimit = (text: string): number | undefined => {
  const [, soft] = /^Max open files\s+(unlimited|\d+)\s/m.exec(text) ?? [];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? -1 : Number(soft);
};
