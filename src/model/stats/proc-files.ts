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
