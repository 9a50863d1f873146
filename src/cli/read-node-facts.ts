import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, networkInterfaces, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseResolvConf } from '../model/cri/dns-config.js';
import { errorText } from '../model/cri-error.js';
import type { NodeFacts } from '../model/node-facts.js';
import type { Logger } from '../streams/ports.js';
import type { AgentPaths } from './config/agent-paths.js';
import type { AgentConfig } from './config/kubelet-configuration.js';

/** What this machine and the configuration say of the node. What cannot be read counts as absent. */
export const readNodeFacts = (config: AgentConfig, paths: AgentPaths, log: Logger): NodeFacts => {
  const isCgroup2 = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const resolvConf = config.resolvConf === '' ? undefined : readResolvConf(config.resolvConf, log);
  return {
    podLogsDirectory: paths.podLogsDir,
    seccompDirectory: join(paths.rootDir, 'seccomp'),
    nodeIps: nodeAddresses(),
    allocatable: {
      cpu: String(availableParallelism()),
      memory: `${Math.floor(totalmem() / 1024)}Ki`,
      pods: String(config.maxPods),
    },
    memoryCapacity: BigInt(totalmem()),
    hugePageSizes: namesIn('/sys/kernel/mm/hugepages').flatMap((name) => {
      const [, kibibytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
      return kibibytes === undefined ? [] : [BigInt(kibibytes) * 1024n];
    }),
    ...(resolvConf ? { resolvConf } : {}),
    clusterDns: config.clusterDNS,
    clusterDomain: config.clusterDomain,
    cpuCfsQuota: config.cpuCFSQuota,
    cpuCfsQuotaPeriodMicros: config.cpuCFSQuotaPeriodMs * 1000,
    seccompDefault: config.seccompDefault,
    killsWholeContainerOnOom: isCgroup2 && config.singleProcessOOMKill !== true,
    limitsSwap: isCgroup2 && existsSync(join('/sys/fs/cgroup', ownCgroup(), 'memory.swap.max')),
    thermalThrottlePaths: namesIn('/sys/devices/system/cpu')
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => `/sys/devices/system/cpu/${name}/thermal_throttle`)
      .filter((path) => existsSync(path)),
  };
};

const readResolvConf = (path: string, log: Logger): NodeFacts['resolvConf'] => {
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
