import type { MachineFacts } from '../../src/model/node/machine-facts.js';
import type { NodeObjectSettings } from '../../src/model/node/node-settings.js';
import type { NodeStatusFacts } from '../../src/model/node/node-status.js';

/** A small machine with one interface. */
export const aMachine: MachineFacts = {
  cpus: 4,
  memoryBytes: 8n << 30n,
  swapBytes: 0n,
  hugePages: [],
  storageBytes: 100n << 30n,
  machineId: 'machine-1',
  systemUuid: 'system-1',
  bootId: 'boot-1',
  kernelVersion: '6.1.0-13-amd64',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  architecture: 'amd64',
  network: {
    interfaces: [
      { name: 'lo', isLoopback: true, addresses: ['127.0.0.1', '::1'] },
      { name: 'eth0', isLoopback: false, addresses: ['192.0.2.2', 'fd00::2', 'fe80::2'] },
    ],
    defaultRoutes: [
      { family: 4, interface: 'eth0' },
      { family: 6, interface: 'eth0' },
    ],
  },
};

export const nodeSettings: NodeObjectSettings = {
  nodeName: 'node-1',
  labels: {},
  taints: [],
  providerId: '',
  nodeIps: [],
  externalCloudProvider: false,
  controllerAttachDetach: true,
  maxPods: 110,
  podsPerCore: 0,
  systemReserved: {},
  kubeReserved: {},
  evictionHard: {},
  localStorage: true,
  maxImages: 50,
  declaredFeatures: [],
  serverPort: 10_250,
  kubeletVersion: 'v1.37.0+rx-kubelet.1.2.3',
};

/** All is well with it, at midnight. */
export const nodeStatusFacts: NodeStatusFacts = {
  machine: aMachine,
  lookedUp: [],
  runtimeVersion: 'containerd://1.7.2',
  images: [],
  runtime: { problems: [] },
  pressure: { memory: false, disk: false, pid: false },
  now: Date.UTC(2026, 0, 1),
};
