import type {
  ContainerStats,
  CpuUsage,
  MemoryUsage,
  PodSandboxStats,
  UInt64Value,
} from '../../../generated/runtime/v1/api.js';
import { wallClockNs } from '../machine/clock.js';
import type { Container } from '../containers/container.js';
import { readIfThere } from '../machine/machine.js';
import type { Sandbox } from '../sandboxes/sandboxes.js';

const PAGE_BYTES = 4096n;
/** Linux counts process times in hundredths of a second on every architecture that Node runs on. */
const NS_PER_TICK = 10_000_000n;
/** Rates over shorter times are noise; then the previous rate is returned. */
const MIN_RATE_NS = 1_000_000_000n;

interface Usage {
  readonly cpuNs: bigint;
  readonly memory: { readonly usage: bigint; readonly workingSet: bigint };
  readonly rss: bigint;
  readonly processes: number;
}

const value = (amount: bigint): UInt64Value => ({ value: amount });

/** Zero for a process that has ended. Errors: its usage cannot be read, which is not zero. */
const processUsage = (pid: number): { cpuNs: bigint; rss: bigint } => {
  const line = readIfThere(`/proc/${pid}/stat`);
  if (line === undefined) return { cpuNs: 0n, rss: 0n };
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return {
    cpuNs: (BigInt(fields[11] ?? 0) + BigInt(fields[12] ?? 0)) * NS_PER_TICK,
    rss: BigInt(fields[21] ?? 0) * PAGE_BYTES,
  };
};

const usageOf = (of: { readonly cgroup: Container['cgroup']; readonly pids: () => number[] }): Usage => {
  const processes = of.pids().map(processUsage);
  const sum = (key: 'cpuNs' | 'rss'): bigint => processes.reduce((total, one) => total + one[key], 0n);
  const rss = sum('rss');
  return {
    cpuNs: of.cgroup?.cpuNs() ?? sum('cpuNs'),
    memory: of.cgroup?.memory() ?? { usage: rss, workingSet: rss },
    rss,
    processes: processes.length,
  };
};

/** Reads usage on request, from cgroups if there are any, else from the processes themselves. */
export class Stats {
  private readonly samples = new Map<string, { at: bigint; cpuNs: bigint; rate: bigint | undefined }>();

  /** `fsMountpoint` would hold the containers' own files; they have none, since they write to this machine. */
  constructor(private readonly fsMountpoint: string) {}

  container(container: Container): ContainerStats {
    const { id, config } = container;
    const usage = usageOf({ cgroup: container.cgroup, pids: container.confinement.pids });
    const timestamp = wallClockNs();
    return {
      attributes: { id, metadata: config.metadata, labels: config.labels, annotations: config.annotations },
      cpu: this.cpu(id, usage, timestamp),
      memory: memoryOf(usage, timestamp),
      writableLayer: {
        timestamp,
        fsId: { mountpoint: this.fsMountpoint },
        usedBytes: value(0n),
        inodesUsed: value(0n),
      },
      swap: undefined,
      io: undefined,
    };
  }

  sandbox({ id, config, cgroup }: Sandbox, containers: readonly Container[]): PodSandboxStats {
    const pids = (): number[] => cgroup?.pids() ?? containers.flatMap(({ confinement }) => confinement.pids());
    const usage = usageOf({ cgroup, pids });
    const timestamp = wallClockNs();
    return {
      attributes: { id, metadata: config.metadata, labels: config.labels, annotations: config.annotations },
      linux: {
        cpu: this.cpu(id, usage, timestamp),
        memory: memoryOf(usage, timestamp),
        network: undefined,
        process: { timestamp, processCount: value(BigInt(usage.processes)) },
        containers: containers.map((container) => this.container(container)),
        io: undefined,
      },
    };
  }

  forget(id: string): void {
    this.samples.delete(id);
  }

  private cpu(id: string, { cpuNs }: Usage, timestamp: bigint): CpuUsage {
    const before = this.samples.get(id);
    let rate = before?.rate;
    if (!before || timestamp - before.at >= MIN_RATE_NS) {
      if (before && cpuNs >= before.cpuNs) rate = ((cpuNs - before.cpuNs) * 1_000_000_000n) / (timestamp - before.at);
      this.samples.set(id, { at: timestamp, cpuNs, rate });
    }
    return {
      timestamp,
      usageCoreNanoSeconds: value(cpuNs),
      usageNanoCores: rate === undefined ? undefined : value(rate),
      psi: undefined,
    };
  }
}

const memoryOf = ({ memory, rss }: Usage, timestamp: bigint): MemoryUsage => ({
  timestamp,
  workingSetBytes: value(memory.workingSet),
  availableBytes: undefined,
  usageBytes: value(memory.usage),
  rssBytes: value(rss),
  pageFaults: undefined,
  majorPageFaults: undefined,
  psi: undefined,
});
