import type {
  CpuUsage,
  IoUsage,
  MemoryUsage,
  PsiStats,
  SwapUsage,
  UInt64Value,
} from '../../generated/runtime/v1/api.js';
import type { CgroupUsage, Limit } from './cgroup-usage.js';
import type { MemoryInfo } from './proc-files.js';
import type { Pressure, PressureLine } from './psi.js';

/** CPU, memory and swap of the node, of a pod or of a container. Unknown figures are undefined. */
export interface Usage {
  /** Unix milliseconds of the sample. */
  readonly timeMs: number;
  /** Nanoseconds of CPU time since the start. */
  readonly cpuNs: number | undefined;
  /** Nanoseconds of CPU time per second. */
  readonly nanoCores: number | undefined;
  readonly memoryUsage: number | undefined;
  readonly workingSet: number | undefined;
  /** The bytes up to the limit; undefined without a limit. */
  readonly available: number | undefined;
  readonly rss: number | undefined;
  readonly pageFaults: number | undefined;
  readonly majorPageFaults: number | undefined;
  readonly swapUsage: number | undefined;
  readonly swapAvailable: number | undefined;
  readonly cpuPressure: Pressure | undefined;
  readonly memoryPressure: Pressure | undefined;
  readonly ioPressure: Pressure | undefined;
}

/** The figures of a runtime for a pod or a container. */
export interface RuntimeUsage {
  readonly cpu?: CpuUsage | undefined;
  readonly memory?: MemoryUsage | undefined;
  readonly swap?: SwapUsage | undefined;
  readonly io?: IoUsage | undefined;
}

/** The usage of a cgroup. `rate` is nanoseconds of CPU time per second. Source: pkg/kubelet/stats/helper.go */
export const usageOfCgroup = (
  { usage, timeMs }: { readonly usage: CgroupUsage; readonly timeMs: number },
  rate?: number,
): Usage => {
  const { cpu, memory } = usage;
  return {
    timeMs,
    cpuNs: cpu.usageNs,
    nanoCores: rate,
    memoryUsage: memory.usage,
    workingSet: memory.workingSet,
    available: upTo(memory.limit, memory.workingSet),
    rss: memory.rss,
    // A pod has no processes of its own.
    pageFaults: memory.hierarchyPageFaults,
    majorPageFaults: memory.hierarchyMajorPageFaults,
    swapUsage: memory.swap,
    swapAvailable: upTo(memory.swapLimit, memory.swap),
    cpuPressure: usage.cpuPressure,
    memoryPressure: usage.memoryPressure,
    ioPressure: usage.ioPressure,
  };
};

const upTo = (limit: Limit, used: number | undefined): number | undefined =>
  typeof limit === 'number' && used !== undefined ? Math.max(0, limit - used) : undefined;

/** The usage that the runtime reports. Source: pkg/kubelet/stats/cri_stats_provider.go makeContainerCPUAndMemoryStats */
export const usageOfRuntime = ({ cpu, memory, swap, io }: RuntimeUsage): Usage | undefined => {
  const timestamp = cpu?.timestamp || memory?.timestamp;
  if (!timestamp) return undefined;
  return {
    timeMs: Number(timestamp) / 1_000_000,
    cpuNs: numberOf(cpu?.usageCoreNanoSeconds),
    nanoCores: numberOf(cpu?.usageNanoCores),
    memoryUsage: numberOf(memory?.usageBytes),
    workingSet: numberOf(memory?.workingSetBytes),
    available: numberOf(memory?.availableBytes),
    rss: numberOf(memory?.rssBytes),
    pageFaults: numberOf(memory?.pageFaults),
    majorPageFaults: numberOf(memory?.majorPageFaults),
    swapUsage: numberOf(swap?.swapUsageBytes),
    swapAvailable: numberOf(swap?.swapAvailableBytes),
    cpuPressure: pressureOf(cpu?.psi),
    memoryPressure: pressureOf(memory?.psi),
    ioPressure: pressureOf(io?.psi),
  };
};

export const numberOf = (amount: UInt64Value | undefined): number | undefined =>
  amount === undefined ? undefined : Number(amount.value);

/** `Total` stays as the runtime has it. Source: pkg/kubelet/stats/cri_stats_provider.go makePSIStats */
const pressureOf = (psi: PsiStats | undefined): Pressure | undefined => {
  const line = (data: PsiStats['Some']): PressureLine | undefined =>
    data && { total: Number(data.Total), avg10: data.Avg10, avg60: data.Avg60, avg300: data.Avg300 };
  const [some, full] = [line(psi?.Some), line(psi?.Full)];
  return some && full && { some, full };
};

/**
 * The usage by the cgroup, completed by that of the runtime field by field. The rate of the runtime counts first. Some
 * runtimes report 0 until their second sample, so its 0 counts only as long as no other rate is known to be larger.
 */
export const mergedUsage = (cgroup: Usage | undefined, runtime: Usage | undefined): Usage | undefined => {
  if (!cgroup || !runtime) return cgroup ?? (runtime && { ...runtime, nanoCores: runtime.nanoCores || undefined });
  const entries = Object.entries(cgroup).map(([key, value]) => [key, value ?? runtime[key as keyof Usage]] as const);
  return { ...(Object.fromEntries(entries) as unknown as Usage), nanoCores: runtime.nanoCores || cgroup.nanoCores };
};

/**
 * The usage of a pod without a cgroup: the sum over its containers. A figure is undefined unless every container has it.
 *
 * Source: pkg/kubelet/stats/cri_stats_provider.go addPodCPUMemoryStats
 */
export const summedUsage = (containers: readonly (Usage | undefined)[]): Usage | undefined => {
  const known = containers.flatMap((usage) => usage ?? []);
  const [first] = known;
  if (!first || known.length < containers.length) return undefined;
  const sum = (of: (usage: Usage) => number | undefined): number | undefined =>
    known.reduce<number | undefined>((total, usage) => {
      const amount = of(usage);
      return total === undefined || amount === undefined ? undefined : total + amount;
    }, 0);
  return {
    timeMs: Math.max(...known.map(({ timeMs }) => timeMs)),
    cpuNs: sum(({ cpuNs }) => cpuNs),
    nanoCores: sum(({ nanoCores }) => nanoCores),
    memoryUsage: sum(({ memoryUsage }) => memoryUsage),
    workingSet: sum(({ workingSet }) => workingSet),
    available: sum(({ available }) => available),
    rss: sum(({ rss }) => rss),
    pageFaults: sum(({ pageFaults }) => pageFaults),
    majorPageFaults: sum(({ majorPageFaults }) => majorPageFaults),
    swapUsage: sum(({ swapUsage }) => swapUsage),
    swapAvailable: sum(({ swapAvailable }) => swapAvailable),
    cpuPressure: undefined,
    memoryPressure: undefined,
    ioPressure: undefined,
  };
};

export interface MachineTotals {
  readonly memory: MemoryInfo | undefined;
  /** Nanoseconds of CPU time since the boot. */
  readonly cpuNs: number | undefined;
  /** Bytes of all huge pages, which no other memory can use. */
  readonly hugePageBytes: number;
  readonly cpuPressure: Pressure | undefined;
  readonly memoryPressure: Pressure | undefined;
  readonly ioPressure: Pressure | undefined;
}

/**
 * The usage of the node by its root cgroup. cgroup v2 does not count the memory of the root, so it is all memory that is not
 * free. The memory up to the limit is without huge pages (gate HugepageAwareEviction, on).
 *
 * Source: opencontainers/cgroups fs2/memory.go rootStatsFromMeminfo, cadvisor container/raw/handler.go GetRootSpec,
 * pkg/kubelet/server/stats/summary.go
 */
export const usageOfNode = (root: Usage, machine: MachineTotals): Usage => {
  const { memory } = machine;
  const memoryUsage = root.memoryUsage ?? (memory && memory.total - memory.free);
  const workingSet =
    root.workingSet ??
    (memory?.inactiveFile === undefined ? undefined : Math.max(0, memory.total - memory.free - memory.inactiveFile));
  const hasSwap = memory?.swapTotal !== undefined && memory.swapFree !== undefined;
  return {
    ...root,
    cpuNs: root.cpuNs || machine.cpuNs,
    memoryUsage,
    workingSet,
    available:
      memory && workingSet !== undefined ? Math.max(0, memory.total - workingSet - machine.hugePageBytes) : undefined,
    swapUsage: hasSwap ? memory.swapTotal - memory.swapFree : undefined,
    swapAvailable: memory?.swapFree,
    cpuPressure: root.cpuPressure ?? machine.cpuPressure,
    memoryPressure: root.memoryPressure ?? machine.memoryPressure,
    ioPressure: root.ioPressure ?? machine.ioPressure,
  };
};
