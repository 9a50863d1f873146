import type { AdmissionFacts } from './admission/admission-facts.js';

/** What a resolver is told. */
export interface ResolvConf {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** What admission and the configuration of a pod for the runtime depend on besides the pod. */
export interface NodeFacts extends AdmissionFacts {
  /** Usually `/var/log/pods`. */
  readonly podLogsDirectory: string;
  /** Usually `/var/log/containers`: links to the logs below `podLogsDirectory`, for collectors of logs. */
  readonly containerLogsDirectory: string;
  /** Where the agent keeps what is its own, pods below `pods`; usually `/var/lib/rx-kubelet`. */
  readonly rootDirectory: string;
  /** The runtime can put files of the agent into containers. */
  readonly canMount: boolean;
  /** Where local seccomp profiles are: `<root directory>/seccomp`. */
  readonly seccompDirectory: string;
  /** Addresses of the node, the primary one first. */
  readonly nodeIps: readonly string[];
  /** Bytes of memory of the machine; more than 0. */
  readonly memoryCapacity: bigint;
  /** Bytes per page of each kind of huge page that the kernel has. */
  readonly hugePageSizes: readonly bigint[];
  /** The host's resolver configuration; absent when pods get none of it. */
  readonly resolvConf?: ResolvConf;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMicros: number;
  /** Unset seccomp profiles mean the runtime's default instead of none. */
  readonly seccompDefault: boolean;
  /** Out of memory ends a container as a whole instead of one of its processes; needs cgroup v2. */
  readonly killsWholeContainerOnOom: boolean;
  /** Gate ContainerStopSignals: the runtime is told by which signal a container wants to be stopped. */
  readonly containerStopSignals: boolean;
  /** cgroup v2 with the swap controller. */
  readonly limitsSwap: boolean;
  /** `/sys/devices/system/cpu/cpu<N>/thermal_throttle`, as many as there are. */
  readonly thermalThrottlePaths: readonly string[];
}
