/** The resources of a cgroup. An absent field keeps the value that the kernel has, and so does a 0 unless it says otherwise. */
export interface CgroupResources {
  /** The weight against siblings, 2 to 262144, in the scale of cgroup v1. */
  readonly cpuShares?: number;
  /** Microseconds of CPU time per period; -1 for no limit. */
  readonly cpuQuota?: number;
  /** Microseconds. */
  readonly cpuPeriod?: number;
  /** Bytes. */
  readonly memory?: bigint;
  /** Bytes that are never reclaimed; 0 for none. Needs cgroup v2. */
  readonly memoryMin?: bigint;
  /** Bytes that are reclaimed last; 0 for none. Needs cgroup v2. */
  readonly memoryLow?: bigint;
  /** Bytes from which on processes are slowed down; -1 for no such limit. Needs cgroup v2. */
  readonly memoryHigh?: bigint;
  /** Tasks, that is processes and threads. */
  readonly pids?: bigint;
  /** Bytes by bytes per page. The limit of an absent size is zero. */
  readonly hugePages?: ReadonlyMap<bigint, bigint>;
  /** Such as `0-3`. */
  readonly cpus?: string;
}

/** What a cgroup has, as the kernel shows it. */
export interface CgroupReading {
  /** Bytes; undefined for no limit. */
  readonly memory: bigint | undefined;
  /** Microseconds of CPU time per period; -1 for no limit. */
  readonly cpuQuota: number;
  /** The weight in the scale of cgroup v1; absent under cgroup v2. */
  readonly cpuShares?: number;
  /** The weight in the scale of cgroup v2; absent under cgroup v1. */
  readonly cpuWeight?: number;
  /** The settings of memory as in the resources; absent under cgroup v1. */
  readonly memoryMin?: bigint;
  readonly memoryLow?: bigint;
  readonly memoryHigh?: bigint;
  /** The bytes that its processes use, with the cache of files. */
  readonly memoryUsage: bigint;
}
