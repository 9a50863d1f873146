import type { NodeFacts } from '../../../model/node/node-facts.js';

/** A small node without a cluster. */
export const simulatedFacts = (name: string): NodeFacts => ({
  rootDirectory: '/var/lib/rx-kubelet',
  canMount: true,
  podLogsDirectory: '/var/log/pods',
  containerLogsDirectory: '/var/log/containers',
  seccompDirectory: '/var/lib/rx-kubelet/seccomp',
  nodeIps: ['192.0.2.1'],
  resolvConf: { servers: ['192.0.2.53'], searches: [], options: [] },
  name,
  labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
  kernelVersion: '6.1.0',
  allowedUnsafeSysctls: [],
  hasAppArmor: false,
  containerStopSignals: false,
  allocatable: { cpu: '16', memory: '64Gi', pods: '110' },
  memoryCapacity: 64n << 30n,
  hugePageSizes: [],
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicros: 100_000,
  seccompDefault: false,
  killsWholeContainerOnOom: false,
  limitsSwap: false,
  thermalThrottlePaths: [],
});
