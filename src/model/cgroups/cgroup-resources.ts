/** What a cgroup gets. What is left out, and a limit of 0, leaves the kernel's own value. */
export interface CgroupResources {
  /** Weight against siblings, 2 to 262144, in the scale of cgroup v1. */
  readonly cpuShares?: number;
  /** Microseconds of CPU time per period; -1 for no limit. */
  readonly cpuQuota?: number;
  /** Microseconds. */
  readonly cpuPeriod?: number;
  /** Bytes. */
  readonly memory?: bigint;
  /** Tasks, that is processes and threads. */
  readonly pids?: bigint;
  /** Bytes by bytes per page. Sizes that are left out are allowed none. */
  readonly hugePages?: ReadonlyMap<bigint, bigint>;
  /** Such as `0-3`. */
  readonly cpus?: string;
}
