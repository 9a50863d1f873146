import type { AdmissionFacts } from '../admission/admission-facts.js';
import type { MemoryQos } from '../cgroups/memory-qos.js';
import type { SecurityField } from '../manifest/security-fields.js';

/** The configuration of a resolver. */
export interface ResolvConf {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

/** The facts on which admission and the runtime's configuration of a pod depend, beside the pod. */
export interface NodeFacts extends AdmissionFacts {
  /** Usually `/var/log/pods`. */
  readonly podLogsDirectory: string;
  /** Usually `/var/log/containers`: links to the logs below `podLogsDirectory`, for collectors of logs. */
  readonly containerLogsDirectory: string;
  /** The agent's own directory, with pods below `pods`; usually `/var/lib/rx-kubelet`. */
  readonly rootDirectory: string;
  /** Whether the runtime can mount files of the agent into containers. */
  readonly canMount: boolean;
  /** The id of the machine's boot; absent if it is unknown. */
  readonly bootId?: string;
  /** Whether the runtime has the start of a container on the disk before the process runs; not unless given. */
  readonly keepsStarts?: boolean;
  /** Whether every pod has the network of the machine; not unless given. */
  readonly sharesNetwork?: boolean;
  /** The machine has SELinux enabled, so the runtime has to relabel the files of pods; off unless given. */
  readonly hasSelinux?: boolean;
  /** The fields of security contexts that the runtime does not apply; none by default. */
  readonly unappliedSecurity?: readonly SecurityField[];
  /** The directory of local seccomp profiles: `<root directory>/seccomp`. */
  readonly seccompDirectory: string;
  /** Addresses of the node, the primary one first. */
  readonly nodeIps: readonly string[];
  /** Bytes of memory of the machine; more than 0. */
  readonly memoryCapacity: bigint;
  /** Bytes per page: the kernel rounds amounts of memory down to whole pages. */
  readonly pageSize: bigint;
  /** Bytes per page of each kind of huge page that the kernel has. */
  readonly hugePageSizes: readonly bigint[];
  /** The host's resolver configuration; absent if pods do not inherit it. */
  readonly resolvConf?: ResolvConf;
  readonly clusterDns: readonly string[];
  /** Whether there is a cluster DNS for pods; unknown counts as yes. */
  readonly hasCluster?: boolean;
  readonly clusterDomain: string;
  readonly cpuCfsQuota: boolean;
  readonly cpuCfsQuotaPeriodMicros: number;
  /** Unset seccomp profiles mean the runtime's default instead of none. */
  readonly seccompDefault: boolean;
  /** When memory runs out, the kernel kills a container as a whole instead of one of its processes; needs cgroup v2. */
  readonly killsWholeContainerOnOom: boolean;
  /** Gate ContainerStopSignals: the runtime is given the stop signal of a container. */
  readonly containerStopSignals: boolean;
  /** Gate InPlacePodLevelResourcesVerticalScaling; on unless given. While it is off, the amounts of a pod as a whole stay. */
  readonly resizesPods?: boolean;
  /** Gate EnvFiles; on unless given. While it is off, a variable from an env file is empty. */
  readonly readsEnvFiles?: boolean;
  /** Gate DefaultPodSysctls: kernel parameters of each new sandbox, unless the pod sets them. */
  readonly defaultSysctls?: Readonly<Record<string, string>>;
  /** cgroup v2 with the swap controller. */
  readonly limitsSwap: boolean;
  /** Bytes of swap that the containers of Burstable pods share by their requests; without it they get none. */
  readonly sharedSwap?: number;
  /** How the memory of pods is kept and throttled; absent under cgroup v1, which has no means for it. */
  readonly memoryQos?: MemoryQos;
  /** The number of directories `/sys/devices/system/cpu/cpu<N>/thermal_throttle`. */
  readonly thermalThrottlePaths: readonly string[];
}

/**
 * The facts that a recording keeps of the node for a simulation. They fit into JSON and contain no path of a machine.
 */
export const TELLING_FACTS = [
  ...(['name', 'labels', 'taints', 'kernelVersion', 'allowedUnsafeSysctls', 'hasAppArmor', 'allocatable'] as const),
  ...([
    'hasSelinux',
    'hasSupplementalGroupsPolicy',
    'unappliedSecurity',
    'containerStopSignals',
    'readsEnvFiles',
    'resizesPods',
    'limitsSwap',
    'sharedSwap',
    'nodeIps',
  ] as const),
  ...(['resolvConf', 'clusterDns', 'clusterDomain', 'hasCluster'] as const),
] as const satisfies readonly (keyof NodeFacts)[];

export type TellingFacts = Partial<Pick<NodeFacts, (typeof TELLING_FACTS)[number]>>;
