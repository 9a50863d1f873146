import type { NodeFacts } from '../../src/model/node/node-facts.js';

/** A small node without a cluster. */
export const nodeFacts: NodeFacts = {
  rootDirectory: '/root-dir',
  canMount: true,
  podLogsDirectory: '/logs',
  containerLogsDirectory: '/links',
  seccompDirectory: '/seccomp',
  nodeIps: ['192.0.2.1'],
  resolvConf: { servers: ['192.0.2.53'], searches: [], options: [] },
  name: 'node-1',
  labels: { 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
  kernelVersion: '6.1.0',
  allowedUnsafeSysctls: [],
  hasAppArmor: false,
  containerStopSignals: false,
  allocatable: { cpu: '4', memory: '8Gi' },
  memoryCapacity: 8n << 30n,
  hugePageSizes: [],
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicros: 100_000,
  seccompDefault: false,
  killsWholeContainerOnOom: false,
  limitsSwap: false,
  thermalThrottlePaths: [],
};
