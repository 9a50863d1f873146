import type { MachineFacts } from '../node/machine-facts.js';
import type { CpuRates } from './cpu-rates.js';
import { diskOf } from './disk-of.js';
import type {
  ContainerSample,
  DiskFigures,
  MountedFileSystem,
  NodeSample,
  PodSample,
  SystemContainerSample,
  VolumeSample,
} from './node-sample.js';
import { type CgroupReading, type MachineReading, NO_DISKS, type NodeDisks, type ReadCgroup } from './readings.js';
import type { RuntimeFigures } from './runtime-figures.js';
import type { SampledPod } from './sampled-pods.js';
import { mergedUsage, summedUsage, type Usage, usageOfCgroup, usageOfNode } from './usage.js';

/** The cgroups of parts of the system, by path or by name of the directory; absent ones are not reported. */
export interface SystemCgroups {
  readonly pods?: string | undefined;
  readonly burstable?: string | undefined;
  readonly besteffort?: string | undefined;
  readonly runtime?: string | undefined;
  /** Default: the cgroup of this process. */
  readonly kubelet?: string | undefined;
  readonly misc?: string | undefined;
}

/** Everything that was read for one sample. */
export interface SampleParts {
  readonly nodeName: string;
  /** Unix milliseconds of the start of the agent. */
  readonly startedAtMs: number;
  readonly systemCgroups: SystemCgroups;
  readonly lists: { readonly failure?: string };
  readonly machine: MachineReading;
  /** Undefined unless the machine is part of the sample, or could be read. */
  readonly facts?: MachineFacts | undefined;
  readonly pods: readonly SampledPod[];
  readonly reading: CgroupReading;
  readonly read: { readonly figures: RuntimeFigures; readonly problems: readonly string[] };
  readonly disks: NodeDisks;
  readonly fileSystems: readonly MountedFileSystem[];
  /** By container ID. */
  readonly logs: ReadonlyMap<string, Omit<DiskFigures, 'fileSystem'>>;
  /** The files `/etc/hosts` of pods, by UID. */
  readonly hostsFiles: ReadonlyMap<string, Omit<DiskFigures, 'fileSystem'>>;
  /** By UID. */
  readonly volumes: ReadonlyMap<string, readonly VolumeSample[]>;
}

/** The space of a node in a sample other than a summary: it is not read. */
export const NO_SPACE: Pick<SampleParts, 'disks' | 'logs' | 'hostsFiles' | 'volumes'> = {
  disks: NO_DISKS,
  logs: new Map(),
  hostsFiles: new Map(),
  volumes: new Map(),
};

export interface SampleTime {
  /** Unix milliseconds, of the same clock as the times of the parts. */
  readonly timeMs: number;
  /** The same moment by a clock that is never set: rates stay right when the time of the machine is set. */
  readonly steadyMs: number;
}

/** Returns the sample of the parts, and forgets the rates of ended containers. */
export const assembleSample = (parts: SampleParts, rates: CpuRates, { timeMs, steadyMs }: SampleTime): NodeSample => {
  const rateOf = (key: string, usage: Usage): number | undefined => {
    keys.add(key);
    return usage.cpuNs === undefined ? undefined : rates.rate(key, usage.timeMs - timeMs + steadyMs, usage.cpuNs);
  };
  const { machine, reading, read, disks, lists } = parts;
  const keys = new Set<string>();
  const usageOf = (key: string, cgroup: ReadCgroup | undefined): Usage | undefined => {
    const usage = cgroup && usageOfCgroup(cgroup);
    return usage?.cpuNs === undefined ? usage : { ...usage, nanoCores: rateOf(key, usage) };
  };
  const root = reading.cgroups.get('/');
  const rootUsage = usageOfNode(root ? usageOfCgroup(root) : nothingAt(machine.timeMs), machine.totals);
  const nodeUsage: Usage = { ...rootUsage, nanoCores: rateOf('/', rootUsage) };
  const pods = parts.pods.map((pod) => podSample(pod, parts, usageOf));
  const systemContainers = systemUsages(parts, (key) => usageOf(key, reading.cgroups.get(key)));
  // After a failed listing the rates of the pods still count.
  if (lists.failure === undefined) rates.retain(keys);
  const { pods: podsGroup, burstable, besteffort } = parts.systemCgroups;
  return {
    timeMs,
    ...(lists.failure !== undefined && { failure: lists.failure }),
    node: {
      name: parts.nodeName,
      bootedAtMs: machine.bootedAtMs,
      usage: nodeUsage,
      network: machine.network,
      disk: disks.node,
      imageDisk: disks.images,
      containerDisk: disks.containers,
      tasks: machine.tasks,
    },
    systemContainers,
    pods,
    ...(parts.facts && { machine: { facts: parts.facts, ...machine.processors, devices: machine.devices } }),
    groups: ['/', podsGroup, burstable, besteffort].flatMap((key) => (key && reading.cgroups.get(key)) || []),
    fileSystems: parts.fileSystems,
    problems: [
      ...(lists.failure === undefined ? [] : [lists.failure]),
      ...reading.problems,
      ...read.problems,
      ...disks.problems,
    ],
  };
};

const podSample = (
  { pod, sandbox, startedAtMs, containers }: SampledPod,
  { reading: { cgroups }, read: { figures }, disks, logs, hostsFiles, volumes }: SampleParts,
  usageOf: (key: string, cgroup: ReadCgroup | undefined) => Usage | undefined,
): PodSample => {
  const { uid, namespace, name } = pod.metadata;
  const samples = containers.map((container): ContainerSample => {
    const { id } = container;
    const [cgroup, ofRuntime, log] = [cgroups.get(id), figures.containers.get(id), logs.get(id)];
    return {
      id,
      name: container.metadata?.name ?? '',
      image: container.image?.userSpecifiedImage || container.image?.image || container.imageRef,
      createdAtMs: Number(container.createdAt) / 1_000_000,
      usage: mergedUsage(usageOf(id, cgroup), ofRuntime?.usage),
      cgroup,
      rootfs: diskOf(ofRuntime?.writableLayer, disks.fileSystems),
      logs: log && { ...log, fileSystem: disks.node?.fileSystem },
    };
  });
  const ofSandbox = cgroups.get(sandbox.id);
  const isAround = ofSandbox !== undefined && samples.some(({ cgroup }) => cgroup?.id.startsWith(`${ofSandbox.id}/`));
  const podKey = `pod${uid}`;
  const cgroup = cgroups.get(podKey) ?? (isAround ? ofSandbox : undefined);
  const network = [ofSandbox, ...samples.map(({ id }) => cgroups.get(id))].find((each) => each?.network)?.network;
  const ofRuntime = figures.sandboxes.get(sandbox.id);
  const hostsFile = hostsFiles.get(uid);
  const usage =
    mergedUsage(usageOf(podKey, cgroup), ofRuntime?.usage) ??
    (samples.length > 0 ? summedUsage(samples.map((each) => each.usage)) : undefined);
  return {
    ref: { uid, namespace, name },
    sandboxId: sandbox.id,
    startedAtMs,
    usage,
    cgroup,
    sandbox: isAround ? undefined : ofSandbox,
    network: network ?? (pod.spec.hostNetwork ? undefined : ofRuntime?.network),
    processes:
      ofRuntime?.processes ?? processesOf(isAround ? [ofSandbox] : [ofSandbox, ...samples.map((each) => each.cgroup)]),
    containers: samples,
    volumes: volumes.get(uid) ?? [],
    hostsFile: hostsFile && { ...hostsFile, fileSystem: disks.node?.fileSystem },
  };
};

const processesOf = (
  cgroups: readonly ({ readonly processes: number | undefined } | undefined)[],
): number | undefined => {
  const known = cgroups.flatMap((cgroup) => cgroup?.processes ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
};

const systemUsages = (
  { systemCgroups, machine, startedAtMs, reading: { cgroups } }: SampleParts,
  usageOf: (key: string) => Usage | undefined,
): readonly SystemContainerSample[] => {
  const keys: readonly (readonly [SystemContainerSample['name'], string | undefined])[] = [
    ['kubelet', systemCgroups.kubelet ?? machine.ownCgroup],
    ['runtime', systemCgroups.runtime],
    ['misc', systemCgroups.misc],
    ['pods', systemCgroups.pods],
  ];
  return keys.flatMap(([name, key]) => {
    const usage = key === undefined ? undefined : usageOf(key);
    const createdAtMs = key === undefined ? undefined : cgroups.get(key)?.createdAtMs;
    return usage ? [{ name, usage, startedAtMs: name === 'kubelet' ? startedAtMs : createdAtMs }] : [];
  });
};

const nothingAt = (timeMs: number): Usage => ({
  timeMs,
  cpuNs: undefined,
  nanoCores: undefined,
  memoryUsage: undefined,
  workingSet: undefined,
  available: undefined,
  rss: undefined,
  pageFaults: undefined,
  majorPageFaults: undefined,
  swapUsage: undefined,
  swapAvailable: undefined,
  cpuPressure: undefined,
  memoryPressure: undefined,
  ioPressure: undefined,
});
