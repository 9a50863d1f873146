import type { Container, PodSandbox } from '../../src/generated/runtime/v1/api.js';
import type { MachineFacts } from '../../src/model/node/machine-facts.js';
import type { Pod } from '../../src/model/pod/pod.js';
import type { SampleParts } from '../../src/model/stats/assemble-sample.js';
import { type CgroupTexts, cgroupUsage } from '../../src/model/stats/cgroup-usage.js';
import type { FileSystemFigures, NetworkFigures, NodeSample } from '../../src/model/stats/node-sample.js';
import type { MachineReading, ReadCgroup } from '../../src/model/stats/readings.js';
import { NO_FIGURES } from '../../src/model/stats/runtime-figures.js';
import { sampledPods } from '../../src/model/stats/sampled-pods.js';
import type { MachineTotals } from '../../src/model/stats/usage.js';

export const START = '2026-11-27T00:00:00Z';
export const START_MS = Date.parse(START);

/** A running pod with a start time in its status, unless that is overridden. */
export const statsPod = (
  name: string,
  { startTime = START, ...spec }: { startTime?: string; volumes?: object[] } = {},
): Pod =>
  ({
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: { containers: [{ name: 'main' }], ...spec },
    ...(startTime !== '' && { status: { startTime } }),
  }) as unknown as Pod;

export const statsSandbox = (name: string, id = `sandbox-${name}`, createdAt = 1n): PodSandbox => ({
  id,
  metadata: { name, namespace: 'default', uid: `uid-${name}`, attempt: 0 },
  state: 'SANDBOX_READY',
  createdAt,
  labels: {},
  annotations: {},
  runtimeHandler: '',
});

export const statsContainer = (
  pod: string,
  name = 'main',
  {
    id = `${pod}-${name}`,
    createdAt = BigInt(START_MS) * 1_000_000n,
    state = 'CONTAINER_RUNNING',
  }: Partial<Pick<Container, 'id' | 'createdAt' | 'state'>> = {},
): Container => ({
  id,
  podSandboxId: `sandbox-${pod}`,
  metadata: { name, attempt: 0 },
  image: { image: 'busybox', imageRef: '', annotations: {}, userSpecifiedImage: 'busybox:1', runtimeHandler: '' },
  imageRef: 'sha256:1',
  state,
  createdAt,
  labels: {},
  annotations: {},
  imageId: '',
});

/** The texts of a cgroup v2 with this CPU time and this memory. */
export const textsV2 = (
  cpuMicros: number,
  memory = 3_000,
  more: Readonly<Record<string, string>> = {},
): CgroupTexts => ({
  v1: {},
  v2: {
    'cpu.stat': `usage_usec ${cpuMicros}\nuser_usec 3\nsystem_usec 2\n`,
    'memory.current': `${memory}\n`,
    'memory.stat': 'anon 1000\nfile 900\ninactive_file 1000\npgfault 7\npgmajfault 1\n',
    'memory.max': 'max\n',
    'memory.swap.current': '0\n',
    'memory.swap.max': '0\n',
    ...more,
  },
});

export const statsCgroup = (id: string, texts: CgroupTexts, timeMs = START_MS): ReadCgroup => ({
  id,
  timeMs,
  usage: cgroupUsage(texts),
  processes: undefined,
  network: undefined,
});

export const TOTALS: MachineTotals = {
  memory: { total: 1_000_000, free: 400_000, inactiveFile: 50_000, swapTotal: 0, swapFree: 0 },
  cpuNs: 9e9,
  hugePageBytes: 0,
  cpuPressure: undefined,
  memoryPressure: undefined,
  ioPressure: undefined,
};

export const statsMachine = (over: Partial<MachineReading> = {}): MachineReading => ({
  timeMs: START_MS,
  totals: TOTALS,
  network: undefined,
  tasks: undefined,
  bootedAtMs: START_MS - 60_000,
  ownCgroup: undefined,
  processors: { physicalCores: 2, sockets: 1 },
  devices: new Map([['8:0', 'sda']]),
  ...over,
});

export const aMachine: MachineFacts = {
  cpus: 4,
  memoryBytes: 1_000_000n,
  swapBytes: 0n,
  hugePages: [],
  machineId: 'm1',
  systemUuid: 's1',
  bootId: 'b1',
  kernelVersion: '6.1.0',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
  architecture: 'amd64',
  network: { interfaces: [] },
};

export const SPACE: FileSystemFigures = {
  ...{ capacityBytes: 1_000, availableBytes: 300, usedBytes: 600 },
  ...{ inodes: 100, inodesFree: 60 },
};

/** A network with one interface, whose counters differ. */
export const statsNetwork = (name = 'eth0'): NetworkFigures => ({
  timeMs: START_MS,
  defaultInterface: name,
  interfaces: [
    {
      ...{ name, rxBytes: 10, rxErrors: 1, rxPackets: 3, rxDropped: 4 },
      ...{ txBytes: 20, txErrors: 2, txPackets: 5, txDropped: 6 },
    },
  ],
});

/** What the agent and the runtime know of the pod `a`. */
export const POD_A = {
  pods: [statsPod('a')],
  sandboxes: [statsSandbox('a')],
  containers: [statsContainer('a')],
};

/** What was read of the node `n1` and its pod `a`: without cgroups and disks, unless `over` has them. */
export const statsParts = (over: Partial<SampleParts> = {}): SampleParts => ({
  nodeName: 'n1',
  startedAtMs: START_MS,
  systemCgroups: { pods: '/kubepods' },
  lists: {},
  machine: statsMachine(),
  pods: sampledPods(POD_A.pods, POD_A.sandboxes, POD_A.containers),
  reading: { cgroups: new Map(), problems: [] },
  read: { figures: NO_FIGURES, problems: [] },
  disks: { node: undefined, images: undefined, containers: undefined, fileSystems: new Map(), problems: [] },
  fileSystems: [],
  logs: new Map(),
  hostsFiles: new Map(),
  volumes: new Map(),
  ...over,
});

/** The sample of a node without cgroups and pods. */
export const EMPTY_SAMPLE: NodeSample = {
  timeMs: START_MS,
  node: {
    ...{ name: 'n1', bootedAtMs: undefined, usage: undefined, network: undefined, tasks: undefined },
    ...{ disk: undefined, imageDisk: undefined, containerDisk: undefined },
  },
  ...{ systemContainers: [], pods: [], groups: [], fileSystems: [], problems: [] },
};
