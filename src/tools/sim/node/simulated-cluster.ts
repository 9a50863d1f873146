import type { ClusterOptions } from '../../../streams/cluster/cluster-node.js';
import type { MachineFacts } from '../../../model/node/machine-facts.js';
import type { NodeFacts } from '../../../model/node/node-facts.js';

/** The default cluster settings of a simulated node. */
export const simulatedClusterOptions = (nodeName: string): ClusterOptions => ({
  node: {
    nodeName,
    labels: {},
    taints: [],
    providerId: '',
    nodeIps: [],
    externalCloudProvider: false,
    controllerAttachDetach: true,
    maxPods: 110,
    podsPerCore: 0,
    maxImages: 50,
    declaredFeatures: [],
    serverPort: 10250,
    systemReserved: {},
    kubeReserved: {},
    evictionHard: {},
    localStorage: true,
    kubeletVersion: 'v1.37.0',
  },
});

/** The machine of a simulated node, with the sizes of its facts. */
export const simulatedMachine = (
  { nodeIps, memoryCapacity, kernelVersion, allocatable }: NodeFacts,
  { bootId, bootedAt }: Pick<MachineFacts, 'bootId' | 'bootedAt'>,
): MachineFacts => ({
  cpus: Number(allocatable?.['cpu'] ?? 16),
  memoryBytes: memoryCapacity,
  swapBytes: 0n,
  hugePages: [],
  storageBytes: 100_000_000_000n,
  machineId: '0123456789abcdef0123456789abcdef',
  systemUuid: '01234567-89ab-cdef-0123-456789abcdef',
  bootId,
  bootedAt,
  kernelVersion,
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  architecture: 'amd64',
  network: {
    interfaces: [
      { name: 'lo', isLoopback: true, addresses: ['127.0.0.1'] },
      { name: 'eth0', isLoopback: false, addresses: nodeIps },
    ],
    defaultRoutes: [{ family: 4, interface: 'eth0' }],
  },
});
