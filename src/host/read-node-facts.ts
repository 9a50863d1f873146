import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { arch, availableParallelism, networkInterfaces, release, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseResolvConf } from '../model/cri/dns-config.js';
import { errorText } from '../model/cri-error.js';
import { hugePagesName } from '../model/node/node-resources.js';
import type { NodeFacts } from '../model/node-facts.js';
import type { Logger } from '../streams/ports.js';
import { goArchitecture } from './go-architecture.js';
import { hugePages } from './huge-pages.js';

/** What somebody decides about the node; the rest is read from the machine. */
export interface NodeSettings {
  /** Where the agent keeps what is its own. Pods that it does not know lose what they have below `pods`. */
  readonly rootDirectory: string;
  /** Where the logs of containers go. */
  readonly podLogsDirectory: string;
  /** Where links to the logs go; `containers` beside the folder of the logs unless given. */
  readonly containerLogsDirectory?: string;
  /** Where local seccomp profiles are; `/var/lib/kubelet/seccomp` unless given, as for the kubelet. */
  readonly seccompDirectory?: string;
  /** The machine's resolver configuration; `/etc/resolv.conf` unless given, empty for none. */
  readonly resolvConf?: string;
  readonly clusterDns?: readonly string[];
  readonly clusterDomain?: string;
  readonly maxPods?: number;
  /** Of this node; unless given, pods are taken in whichever node they name, and it has no label of its name. */
  readonly nodeName?: string;
  /** Kernel parameters that pods may set besides the safe ones; `net.core.*` means all that begin so. */
  readonly allowedUnsafeSysctls?: readonly string[];
  /** Gate ContainerStopSignals; off unless given. */
  readonly containerStopSignals?: boolean;
  readonly cpuCfsQuota?: boolean;
  readonly cpuCfsQuotaPeriodMicros?: number;
  readonly seccompDefault?: boolean;
  /** Out of memory ends one process instead of its container. Without cgroup v2 it always does. */
  readonly singleProcessOomKill?: boolean;
}

/** What the runtime says of itself. */
export type RuntimeFacts = Pick<NodeFacts, 'canMount' | 'hasSupplementalGroupsPolicy'>;

/** What this machine, the settings and the runtime say of the node. What cannot be read counts as absent. */
export const readNodeFacts = (
  settings: NodeSettings,
  log: Pick<Logger, 'warn'>,
  { canMount = true, hasSupplementalGroupsPolicy }: Partial<RuntimeFacts> = {},
): NodeFacts => {
  const { seccompDirectory = '/var/lib/kubelet/seccomp', resolvConf: resolvConfPath = '/etc/resolv.conf' } = settings;
  const isCgroup2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const resolvConf = resolvConfPath === '' ? undefined : readResolvConf(resolvConfPath, log);
  return {
    rootDirectory: settings.rootDirectory,
    canMount,
    podLogsDirectory: settings.podLogsDirectory,
    containerLogsDirectory: settings.containerLogsDirectory ?? join(dirname(settings.podLogsDirectory), 'containers'),
    seccompDirectory,
    nodeIps: nodeAddresses(),
    allocatable: {
      cpu: String(availableParallelism()),
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
    ...(hasSupplementalGroupsPolicy !== undefined && { hasSupplementalGroupsPolicy }),
    containerStopSignals: settings.containerStopSignals ?? false,
    memoryCapacity: BigInt(totalmem()),
    hugePageSizes: hugePages().map(({ pageBytes }) => pageBytes),
    ...(resolvConf ? { resolvConf } : {}),
    clusterDns: settings.clusterDns ?? [],
    clusterDomain: settings.clusterDomain ?? '',
    cpuCfsQuota: settings.cpuCfsQuota ?? true,
    cpuCfsQuotaPeriodMicros: settings.cpuCfsQuotaPeriodMicros ?? 100_000,
    seccompDefault: settings.seccompDefault ?? false,
    killsWholeContainerOnOom: isCgroup2 && settings.singleProcessOomKill !== true,
    limitsSwap: isCgroup2 && existsSync(join('/sys/fs/cgroup', ownCgroup(), 'memory.swap.max')),
    thermalThrottlePaths: namesIn('/sys/devices/system/cpu')
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => `/sys/devices/system/cpu/${name}/thermal_throttle`)
      .filter((path) => existsSync(path)),
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
  existsSync('/sys/kernel/security/apparmor') && textOf('/sys/module/apparmor/parameters/enabled').startsWith('Y');

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const readResolvConf = (path: string, log: Pick<Logger, 'warn'>): NodeFacts['resolvConf'] => {
  try {
    return parseResolvConf(readFileSync(path, 'utf8'));
  } catch (error) {
    log.warn({ path, error: errorText(error) }, 'pods get no resolver configuration of the host');
    return { servers: [], searches: [], options: [] };
  }
};

/** Addresses that others can reach, IPv4 first as the kubelet prefers it. */
const nodeAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !address.toLowerCase().startsWith('fe80:'))
    .toSorted((a, b) => (a.family < b.family ? -1 : a.family > b.family ? 1 : 0))
    .map(({ address }) => address);

const namesIn = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

const ownCgroup = (): string => {
  try {
    return /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
};
