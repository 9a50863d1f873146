import { parsePressure, type Pressure } from './psi.js';

/** The usage of a cgroup with all cgroups below it. A figure that the kernel does not count is undefined. Sizes are bytes. */
export interface CgroupUsage {
  readonly cpu: CpuFigures;
  readonly memory: MemoryFigures;
  /** Tasks, which are threads, and their limit. */
  readonly tasks: number | undefined;
  readonly tasksLimit: Limit;
  /** By device, `<major>:<minor>`; only devices with a transfer. */
  readonly devices: readonly DeviceFigures[];
  /** Processes that the kernel killed without memory. */
  readonly oomKills: number | undefined;
  readonly cpuPressure: Pressure | undefined;
  readonly memoryPressure: Pressure | undefined;
  readonly ioPressure: Pressure | undefined;
}

export interface CpuFigures {
  /** Nanoseconds since the cgroup was made, as all times here. */
  readonly usageNs: number | undefined;
  readonly userNs: number | undefined;
  readonly systemNs: number | undefined;
  /** The periods of the quota; undefined without a quota. */
  readonly periods: number | undefined;
  readonly throttledPeriods: number | undefined;
  readonly throttledNs: number | undefined;
  /** Periods that used more than the quota, and the time above it. */
  readonly burstPeriods: number | undefined;
  readonly burstNs: number | undefined;
  /** In the units of cgroup v1, 2 to 262144. */
  readonly shares: number | undefined;
  /** Microseconds; undefined without a quota. */
  readonly quotaMicros: number | undefined;
  readonly periodMicros: number | undefined;
}

export interface MemoryFigures {
  readonly usage: number | undefined;
  readonly workingSet: number | undefined;
  readonly rss: number | undefined;
  readonly cache: number | undefined;
  readonly mappedFile: number | undefined;
  readonly activeFile: number | undefined;
  readonly inactiveFile: number | undefined;
  readonly swap: number | undefined;
  readonly maxUsage: number | undefined;
  readonly kernel: number | undefined;
  readonly failures: number | undefined;
  /** Faults of the cgroup itself; cgroup v2 counts only `hierarchy`. */
  readonly pageFaults: number | undefined;
  readonly majorPageFaults: number | undefined;
  readonly hierarchyPageFaults: number | undefined;
  readonly hierarchyMajorPageFaults: number | undefined;
  /** `'none'` without a limit; undefined if unknown. */
  readonly limit: Limit;
  /** The limit of swap alone. */
  readonly swapLimit: Limit;
  /** The soft limit. */
  readonly reservation: Limit;
}

export type Limit = number | 'none' | undefined;

export interface DeviceFigures {
  readonly device: string;
  readonly reads: number;
  readonly writes: number;
  readonly readBytes: number;
  readonly writeBytes: number;
}

/** Texts of the files of a cgroup by name. On a hybrid machine both versions have some. */
export interface CgroupTexts {
  readonly v1: Readonly<Record<string, string>>;
  readonly v2: Readonly<Record<string, string>>;
}

/** `basic` is CPU, memory, swap and pressure; `full` is everything. */
export type UsageDetail = 'basic' | 'full';

const BASIC_V2 = [
  ...['cpu.stat', 'memory.current', 'memory.stat', 'memory.max', 'memory.swap.current', 'memory.swap.max'],
  ...['cpu.pressure', 'memory.pressure', 'io.pressure'],
];
const FULL_V2 = [
  ...[...BASIC_V2, 'cpu.max', 'cpu.weight', 'memory.peak', 'memory.low', 'memory.events'],
  ...['pids.current', 'pids.max', 'io.stat'],
];
const BASIC_V1: readonly (readonly [controller: string, ...files: string[]])[] = [
  ['cpuacct', 'cpuacct.usage'],
  ['memory', 'memory.usage_in_bytes', 'memory.stat', 'memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'],
];
const FULL_V1: readonly (readonly [controller: string, ...files: string[]])[] = [
  ['cpuacct', 'cpuacct.usage', 'cpuacct.stat'],
  ['cpu', 'cpu.stat', 'cpu.shares', 'cpu.cfs_quota_us', 'cpu.cfs_period_us'],
  [
    ...(['memory', 'memory.usage_in_bytes', 'memory.stat', 'memory.limit_in_bytes'] as const),
    ...['memory.memsw.limit_in_bytes', 'memory.max_usage_in_bytes', 'memory.kmem.usage_in_bytes', 'memory.failcnt'],
    ...['memory.soft_limit_in_bytes', 'memory.oom_control'],
  ],
  ['pids', 'pids.current', 'pids.max'],
  [
    ...(['blkio', 'blkio.throttle.io_service_bytes_recursive', 'blkio.throttle.io_serviced_recursive'] as const),
    ...['blkio.bfq.io_service_bytes_recursive', 'blkio.bfq.io_serviced_recursive'],
  ],
];

/** Returns the files to read in a tree of cgroups with these controllers. Under cgroup v2 the controllers do not matter. */
export const usageFiles = (
  { version, controllers }: { readonly version: 1 | 2; readonly controllers: readonly string[] },
  detail: UsageDetail,
): readonly string[] => {
  if (version === 2) return detail === 'full' ? FULL_V2 : BASIC_V2;
  const wanted = detail === 'full' ? FULL_V1 : BASIC_V1;
  return wanted.flatMap(([controller, ...files]) => (controllers.includes(controller) ? files : []));
};

/**
 * Returns the usage from the texts of the files. A missing or unreadable text gives undefined figures, and no others.
 *
 * Source: github.com/google/cadvisor container/libcontainer/handler.go, opencontainers/cgroups fs and fs2
 */
export const cgroupUsage = ({ v1, v2 }: CgroupTexts): CgroupUsage => ({
  cpu: cpuFigures(v1, v2),
  memory: 'memory.usage_in_bytes' in v1 ? memoryV1(v1) : memoryV2(v2),
  tasks: count(v1['pids.current'] ?? v2['pids.current']),
  tasksLimit: limitV2(v1['pids.max'] ?? v2['pids.max']),
  devices: 'io.stat' in v2 ? devicesV2(v2['io.stat'] ?? '') : devicesV1(v1),
  oomKills: fieldsOf(v1['memory.oom_control'] ?? v2['memory.events'])('oom_kill'),
  cpuPressure: parsePressure(v2['cpu.pressure']),
  memoryPressure: parsePressure(v2['memory.pressure']),
  ioPressure: parsePressure(v2['io.pressure']),
});

type Texts = CgroupTexts['v1'];

/** Linux counts process times in hundredths of a second for users. */
const NS_PER_TICK = 10_000_000;

/**
 * On a hybrid machine a process may be in only one of the two trees. Both count only the processes in them, so the larger
 * counter is the right one.
 */
const cpuFigures = (v1: Texts, v2: Texts): CpuFigures => {
  const [statV1, statV2] = [fieldsOf(v1['cpu.stat']), fieldsOf(v2['cpu.stat'])];
  const ticks = fieldsOf(v1['cpuacct.stat']);
  const [v1Ns, v2Ns] = [count(v1['cpuacct.usage']), scaled(statV2('usage_usec'), 1_000)];
  const isV1 = v1Ns !== undefined && v1Ns >= (v2Ns ?? 0);
  const periods = limitedPeriods(v1, v2);
  const stat = 'cpu.stat' in v1 ? statV1 : statV2;
  const ofPeriods = (value: number | undefined) => (periods.quotaMicros === undefined ? undefined : value);
  return {
    usageNs: isV1 ? v1Ns : v2Ns,
    userNs: isV1 ? scaled(ticks('user'), NS_PER_TICK) : scaled(statV2('user_usec'), 1_000),
    systemNs: isV1 ? scaled(ticks('system'), NS_PER_TICK) : scaled(statV2('system_usec'), 1_000),
    periods: ofPeriods(stat('nr_periods')),
    throttledPeriods: ofPeriods(stat('nr_throttled')),
    throttledNs: ofPeriods(stat('throttled_time') ?? scaled(stat('throttled_usec'), 1_000)),
    burstPeriods: ofPeriods(stat('nr_bursts')),
    burstNs: ofPeriods(stat('burst_time') ?? scaled(stat('burst_usec'), 1_000)),
    shares: count(v1['cpu.shares']) ?? sharesOfWeight(count(v2['cpu.weight'])),
    ...periods,
  };
};

const limitedPeriods = (v1: Texts, v2: Texts): Pick<CpuFigures, 'quotaMicros' | 'periodMicros'> => {
  const [quota, period] = (v2['cpu.max'] ?? '').trim().split(' ');
  const quotaMicros = count(v1['cpu.cfs_quota_us'] ?? quota);
  return { quotaMicros, periodMicros: count(v1['cpu.cfs_period_us'] ?? period) };
};

/** Source: pkg/kubelet/cm/cgroup_manager_linux.go cpuWeightToCPUShares */
const sharesOfWeight = (weight: number | undefined): number | undefined =>
  weight === undefined ? undefined : Math.floor(((weight - 1) * 262_142) / 9_999) + 2;

const memoryV1 = (texts: Texts): MemoryFigures => {
  const stat = fieldsOf(texts['memory.stat']);
  const usage = count(texts['memory.usage_in_bytes']);
  const [limit, swapLimit] = [limitV1(texts['memory.limit_in_bytes']), limitV1(texts['memory.memsw.limit_in_bytes'])];
  return {
    usage,
    workingSet: workingSet(usage, stat('total_inactive_file')),
    rss: stat('total_rss'),
    cache: stat('total_cache'),
    mappedFile: stat('total_mapped_file'),
    activeFile: stat('total_active_file'),
    inactiveFile: stat('total_inactive_file'),
    swap: stat('total_swap'),
    maxUsage: count(texts['memory.max_usage_in_bytes']),
    kernel: count(texts['memory.kmem.usage_in_bytes']),
    failures: count(texts['memory.failcnt']),
    pageFaults: stat('pgfault'),
    majorPageFaults: stat('pgmajfault'),
    hierarchyPageFaults: stat('total_pgfault'),
    hierarchyMajorPageFaults: stat('total_pgmajfault'),
    limit,
    // The kernel limits memory and swap together.
    swapLimit: typeof swapLimit === 'number' && typeof limit === 'number' ? Math.max(0, swapLimit - limit) : swapLimit,
    reservation: limitV1(texts['memory.soft_limit_in_bytes']),
  };
};

const memoryV2 = (texts: Texts): MemoryFigures => {
  const stat = fieldsOf(texts['memory.stat']);
  const usage = count(texts['memory.current']);
  return {
    usage,
    workingSet: workingSet(usage, stat('inactive_file')),
    rss: stat('anon'),
    cache: stat('file'),
    mappedFile: stat('file_mapped'),
    activeFile: stat('active_file'),
    inactiveFile: stat('inactive_file'),
    swap: count(texts['memory.swap.current']),
    maxUsage: count(texts['memory.peak']),
    kernel: stat('kernel'),
    failures: undefined,
    pageFaults: stat('pgfault'),
    majorPageFaults: stat('pgmajfault'),
    hierarchyPageFaults: stat('pgfault'),
    hierarchyMajorPageFaults: stat('pgmajfault'),
    limit: limitV2(texts['memory.max']),
    swapLimit: limitV2(texts['memory.swap.max']),
    reservation: limitV2(texts['memory.low']),
  };
};

/**
 * The usage without the files that were not used for long. Without `inactive_file` it is unknown: cAdvisor would have no
 * statistics of a cgroup whose `memory.stat` cannot be read.
 *
 * Source: github.com/google/cadvisor lib/container/libcontainer/handler.go setMemoryStats
 */
export const workingSet = (usage: number | undefined, inactiveFile: number | undefined): number | undefined =>
  usage === undefined || inactiveFile === undefined ? undefined : Math.max(0, usage - inactiveFile);

/** cgroup v1 writes no limit as the largest multiple of a page. Source: cadvisor maxMemorySize */
const UNLIMITED = 2 ** 62;
const limitV1 = (text: string | undefined): Limit => {
  const bytes = count(text);
  return bytes !== undefined && bytes >= UNLIMITED ? 'none' : bytes;
};
const limitV2 = (text: string | undefined): Limit => (text?.trim() === 'max' ? 'none' : count(text));

/** `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0` */
const devicesV2 = (text: string): readonly DeviceFigures[] =>
  [...text.matchAll(/^(\d+:\d+) (\S.*)$/gm)].map(([, device = '', rest = '']) => {
    const values = new Map([...rest.matchAll(/(\w+)=(\d+)/g)].map(([, key = '', value]) => [key, Number(value)]));
    const of = (key: string): number => values.get(key) ?? 0;
    return { device, reads: of('rios'), writes: of('wios'), readBytes: of('rbytes'), writeBytes: of('wbytes') };
  });

/**
 * `8:0 Read 4096`, one line for each operation. Since Linux 6.10 the second pair of files counts only after a limit was set on the
 * device; the first pair is that of the scheduler BFQ.
 *
 * Source: opencontainers/cgroups fs/blkio.go GetStats
 */
const devicesV1 = (texts: Texts): readonly DeviceFigures[] => {
  const ofBfq = figuresBy(texts, 'bfq');
  const { bytes, operations } = ofBfq.bytes.size > 0 ? ofBfq : figuresBy(texts, 'throttle');
  return [...bytes].map(([device, amounts]) => ({
    device,
    reads: operations.get(device)?.get('Read') ?? 0,
    writes: operations.get(device)?.get('Write') ?? 0,
    readBytes: amounts.get('Read') ?? 0,
    writeBytes: amounts.get('Write') ?? 0,
  }));
};

const figuresBy = (texts: Texts, policy: 'bfq' | 'throttle') => ({
  bytes: devicesOf(texts[`blkio.${policy}.io_service_bytes_recursive`]),
  operations: devicesOf(texts[`blkio.${policy}.io_serviced_recursive`]),
});

const devicesOf = (text = ''): ReadonlyMap<string, ReadonlyMap<string, number>> => {
  const devices = new Map<string, Map<string, number>>();
  for (const [, device = '', operation = '', amount] of text.matchAll(/^(\d+:\d+) (\w+) (\d+)$/gm)) {
    const amounts = devices.get(device) ?? new Map<string, number>();
    devices.set(device, amounts.set(operation, Number(amount)));
  }
  return devices;
};

/** Returns a function that returns the number of a line `name number`. */
const fieldsOf = (text = ''): ((name: string) => number | undefined) => {
  const fields = new Map<string, number>();
  for (const line of text.split('\n')) {
    const blank = line.indexOf(' ');
    const value = blank > 0 ? count(line.slice(blank + 1)) : undefined;
    if (value !== undefined) fields.set(line.slice(0, blank), value);
  }
  return (name) => fields.get(name);
};

/** The number of a file with one number; undefined for another text, such as `max` or `-1`. */
const count = (text: string | undefined): number | undefined => {
  const trimmed = text?.trim() ?? '';
  return /^\d+$/.test(trimmed) ? Number(trimmed) : undefined;
};

const scaled = (value: number | undefined, factor: number): number | undefined =>
  value === undefined ? undefined : value * factor;
