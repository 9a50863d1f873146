import { readFileSync } from 'node:fs';
import { arch, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseResolvConf } from '../../model/cri/dns-config.js';
import { errorText } from '../../model/cri/cri-error.js';
import { isIpv4 } from '../../model/values/ip-address.js';
import { isShortage } from '../../model/values/file-error.js';
import { hugePagesName } from '../../model/node/node-resources.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import type { Logger } from '../../streams/ports/logger.js';
import { memoryQosOf, type MemoryQosSettings } from '../../model/cgroups/memory-qos.js';
import { goArchitecture } from '../../model/node/go-architecture.js';
import { hugePages } from './huge-pages.js';
import { processorCount } from './processor-count.js';
import { pageSize } from './page-size.js';
import { readInterfaces } from './read-interfaces.js';
import { isThere, namesIfThere, readIfThere } from '../files/read-if-there.js';
import { hasSelinux } from './selinux.js';
import { totalSwap } from './swap.js';

/** The settings of the node; all other facts are read from the machine. */
export interface NodeSettings {
  /** The folder of the agent. A pod that the agent does not know loses its files below `pods`. */
  readonly rootDirectory: string;
  /** The folder for the logs of containers. */
  readonly podLogsDirectory: string;
  /** The folder for links to the logs; `containers` beside the folder of the logs unless given. */
  readonly containerLogsDirectory?: string;
  /** The folder of local seccomp profiles; `/var/lib/kubelet/seccomp` unless given, as for the kubelet. */
  readonly seccompDirectory?: string;
  /** The resolver configuration of the machine; `/etc/resolv.conf` unless given, empty for none. */
  readonly resolvConf?: string;
  readonly clusterDns?: readonly string[];
  /** Whether the node belongs to a cluster; unknown unless given. */
  readonly hasCluster?: boolean;
  readonly clusterDomain?: string;
  readonly maxPods?: number;
  /**
   * The name of this node. Without a name, pods of every node name are accepted, and the node has no label for its
   * name.
   */
  readonly nodeName?: string;
  /** Kernel parameters that pods may set besides the safe ones; `net.core.*` means all that begin with `net.core.`. */
  readonly allowedUnsafeSysctls?: readonly string[];
  /** Gate ContainerStopSignals; off unless given. */
  readonly containerStopSignals?: boolean;
  /** Gate InPlacePodLevelResourcesVerticalScaling; on unless given. */
  readonly resizesPods?: boolean;
  /** Gate EnvFiles; on unless given. */
  readonly readsEnvFiles?: boolean;
  /** Gate DefaultPodSysctls: kernel parameters of each new sandbox; none unless given. */
  readonly defaultSysctls?: NodeFacts['defaultSysctls'];
  readonly cpuCfsQuota?: boolean;
  readonly cpuCfsQuotaPeriodMicros?: number;
  readonly seccompDefault?: boolean;
  /** The containers of Burstable pods may use swap: `memorySwap.swapBehavior` LimitedSwap. Off unless given; needs cgroup v2. */
  readonly sharesSwap?: boolean;
  /** Gate MemoryQoS: how the memory of pods is throttled and kept. Neither unless given; needs cgroup v2. */
  readonly memoryQos?: MemoryQosSettings;
  /** Without memory, the kernel kills one process instead of the container. Always so without cgroup v2. */
  readonly singleProcessOomKill?: boolean;
}

/** The facts that the runtime reports. */
export type RuntimeFacts = Pick<
  NodeFacts,
  'canMount' | 'keepsStarts' | 'sharesNetwork' | 'hasSupplementalGroupsPolicy' | 'unappliedSecurity'
>;

/**
 * Collects the facts of the node from this machine, the settings and the runtime. A value that cannot be read counts as
 * absent.
 */
export const readNodeFacts = (
  settings: NodeSettings,
  log: Pick<Logger, 'warn'>,
  {
    canMount = true,
    keepsStarts = false,
    sharesNetwork = false,
    hasSupplementalGroupsPolicy,
    unappliedSecurity = [],
  }: Partial<RuntimeFacts> = {},
): NodeFacts => {
  const { seccompDirectory = '/var/lib/kubelet/seccomp', resolvConf: resolvConfPath = '/etc/resolv.conf' } = settings;
  const isCgroup2 = isThere('/sys/fs/cgroup/cgroup.controllers');
  const limitsSwap = isCgroup2 && isThere(join('/sys/fs/cgroup', ownCgroup(), 'memory.swap.max'));
  const resolvConf = resolvConfPath === '' ? undefined : readResolvConf(resolvConfPath, log);
  return {
    rootDirectory: settings.rootDirectory,
    canMount,
    keepsStarts,
    sharesNetwork,
    bootId: readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '',
    unappliedSecurity,
    podLogsDirectory: settings.podLogsDirectory,
    containerLogsDirectory: settings.containerLogsDirectory ?? join(dirname(settings.podLogsDirectory), 'containers'),
    seccompDirectory,
    nodeIps: nodeAddresses(),
    allocatable: {
      cpu: String(processorCount()),
      memory: `${Math.floor(totalmem() / 1024)}Ki`,
      pods: String(settings.maxPods ?? 110),
      ...Object.fromEntries(
        hugePages().map(({ pageBytes, count }) => [hugePagesName(pageBytes), String(pageBytes * count)]),
      ),
    },
    ...(settings.nodeName !== undefined && { name: settings.nodeName }),
    labels: nodeLabels(settings.nodeName),
    kernelVersion: release(),
    allowedUnsafeSysctls: settings.allowedUnsafeSysctls ?? [],
    hasAppArmor: hasAppArmor(),
    hasSelinux: hasSelinux(),
    ...(hasSupplementalGroupsPolicy !== undefined && { hasSupplementalGroupsPolicy }),
    containerStopSignals: settings.containerStopSignals ?? false,
    resizesPods: settings.resizesPods ?? true,
    readsEnvFiles: settings.readsEnvFiles ?? true,
    ...(settings.defaultSysctls && { defaultSysctls: settings.defaultSysctls }),
    memoryCapacity: BigInt(totalmem()),
    pageSize: pageSize(),
    hugePageSizes: hugePages().map(({ pageBytes }) => pageBytes),
    ...(resolvConf ? { resolvConf } : {}),
    clusterDns: settings.clusterDns ?? [],
    ...(settings.hasCluster !== undefined && { hasCluster: settings.hasCluster }),
    clusterDomain: settings.clusterDomain ?? '',
    cpuCfsQuota: settings.cpuCfsQuota ?? true,
    cpuCfsQuotaPeriodMicros: settings.cpuCfsQuotaPeriodMicros ?? 100_000,
    seccompDefault: settings.seccompDefault ?? false,
    killsWholeContainerOnOom: isCgroup2 && settings.singleProcessOomKill !== true,
    limitsSwap,
    ...(limitsSwap && settings.sharesSwap && { sharedSwap: totalSwap() }),
    ...(isCgroup2 && {
      memoryQos: memoryQosOf(settings.memoryQos, { memory: BigInt(totalmem()), pageSize: pageSize() }),
    }),
    thermalThrottlePaths: namesIfThere('/sys/devices/system/cpu')
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => `/sys/devices/system/cpu/${name}/thermal_throttle`)
      .filter((path) => isThere(path)),
  };
};

/** Source: pkg/kubelet/kubelet_node_status.go initialNode */
const nodeLabels = (nodeName: string | undefined): NodeFacts['labels'] => {
  const architecture = goArchitecture(arch());
  return {
    ...(nodeName !== undefined && { 'kubernetes.io/hostname': nodeName }),
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': architecture,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': architecture,
  };
};

const hasAppArmor = (): boolean =>
  isThere('/sys/kernel/security/apparmor') &&
  (readIfThere('/sys/module/apparmor/parameters/enabled') ?? '').startsWith('Y');

const readResolvConf = (path: string, log: Pick<Logger, 'warn'>): NodeFacts['resolvConf'] => {
  try {
    return parseResolvConf(readFileSync(path, 'utf8'));
  } catch (error) {
    if (isShortage(error)) throw error;
    log.warn({ path, error: errorText(error) }, 'pods get no resolver configuration from the host');
    return { servers: [], searches: [], options: [] };
  }
};

/** Addresses that other machines can reach, IPv4 first as the kubelet prefers it. Without a carrier they may reach it later. */
const nodeAddresses = (): readonly string[] => {
  const { up, silent } = readInterfaces();
  const outward = [up, silent].map((interfaces) =>
    interfaces
      .filter(({ isLoopback }) => !isLoopback)
      .flatMap(({ addresses }) => addresses)
      .filter((address) => !address.toLowerCase().startsWith('fe80:'))
      .toSorted((a, b) => Number(isIpv4(b)) - Number(isIpv4(a))),
  );
  return outward.find((addresses) => addresses.length > 0) ?? [];
};

const ownCgroup = (): string => /^0::(.*)$/m.exec(readIfThere('/proc/self/cgroup') ?? '')?.[1] ?? '';
