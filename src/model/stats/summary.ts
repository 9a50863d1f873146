import { toTimestamp } from '../values/timestamp.js';
import type {
  ContainerSample,
  DiskFigures,
  NetworkFigures,
  NodeFigures,
  NodeSample,
  PodSample,
  SystemContainerSample,
} from './node-sample.js';
import type { InterfaceFigures } from './proc-files.js';
import type { Pressure } from './psi.js';
import type { Usage } from './usage.js';

/** The JSON of the summary. Amounts are bytes, nanoseconds or counts; times are RFC 3339. */
export interface Summary {
  readonly node: Readonly<Record<string, unknown>>;
  readonly pods: readonly Readonly<Record<string, unknown>>[];
}

export interface SummaryOptions {
  /** Leaves out all but CPU, memory and swap: the query `only_cpu_and_memory=true`. */
  readonly onlyCpuAndMemory: boolean;
}

/**
 * Returns the summary of the stats API, v1alpha1. Undefined fields are left out by `JSON.stringify`.
 *
 * Source: staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go, pkg/kubelet/server/stats/summary.go
 */
export const summaryOf = (
  { node, systemContainers, pods }: NodeSample,
  { onlyCpuAndMemory }: SummaryOptions,
): Summary => ({
  node: {
    nodeName: node.name,
    systemContainers: systemContainers.map((each) => systemContainer(each, onlyCpuAndMemory)),
    startTime: node.bootedAtMs === undefined ? null : toTimestamp(node.bootedAtMs),
    ...resources(node.usage),
    ...(!onlyCpuAndMemory && restOfNode(node)),
    swap: swapOf(node.usage),
  },
  pods: pods.map((pod) => podStats(pod, node.disk, onlyCpuAndMemory)),
});

const systemContainer = ({ name, usage, startedAtMs }: SystemContainerSample, onlyCpuAndMemory: boolean) => ({
  name,
  startTime: startedAtMs === undefined ? null : toTimestamp(startedAtMs),
  ...resources(usage),
  ...(!onlyCpuAndMemory && { io: ioOf(usage) }),
  swap: swapOf(usage),
});

const restOfNode = ({ usage, network, disk, imageDisk, containerDisk, tasks }: NodeFigures) => ({
  io: ioOf(usage),
  network: networkOf(network),
  fs: diskOf(disk),
  runtime: imageDisk || containerDisk ? { imageFs: diskOf(imageDisk), containerFs: diskOf(containerDisk) } : undefined,
  rlimit: tasks && { time: toTimestamp(tasks.timeMs), maxpid: tasks.most, curproc: tasks.current },
});

const podStats = (pod: PodSample, ofNode: DiskFigures | undefined, onlyCpuAndMemory: boolean) => ({
  podRef: { name: pod.ref.name, namespace: pod.ref.namespace, uid: pod.ref.uid },
  startTime: toTimestamp(pod.startedAtMs),
  containers: pod.containers.map((container) => containerStats(container, onlyCpuAndMemory)),
  ...resources(pod.usage),
  ...(!onlyCpuAndMemory && {
    io: ioOf(pod.usage),
    network: networkOf(pod.network),
    volume: pod.volumes.length === 0 ? undefined : pod.volumes.map(({ name, disk }) => ({ ...diskOf(disk), name })),
    'ephemeral-storage': diskOf(ephemeralStorage(pod, ofNode)),
    process_stats: pod.processes === undefined ? undefined : { process_count: pod.processes },
  }),
  swap: swapOf(pod.usage),
});

const containerStats = ({ name, createdAtMs, usage, rootfs, logs }: ContainerSample, onlyCpuAndMemory: boolean) => ({
  name,
  startTime: toTimestamp(createdAtMs),
  ...resources(usage),
  ...(!onlyCpuAndMemory && { io: ioOf(usage), rootfs: diskOf(rootfs), logs: diskOf(logs) }),
  swap: swapOf(usage),
});

/**
 * The ephemeral storage of a pod: the layers and logs of its containers, its volumes and its hosts file, with the space of the file system of the
 * node. Undefined without any of them.
 *
 * Source: pkg/kubelet/stats/cri_stats_provider.go makePodStorageStats, helper.go calcEphemeralStorage
 */
const ephemeralStorage = (
  { containers, volumes, hostsFile }: PodSample,
  ofNode: DiskFigures | undefined,
): DiskFigures | undefined => {
  const parts = [
    ...containers.flatMap(({ rootfs, logs }) => [rootfs, logs]),
    ...volumes.flatMap(({ isEphemeral, disk }) => (isEphemeral ? [disk] : [])),
    hostsFile,
  ].flatMap((disk) => (disk?.usedBytes === undefined ? [] : [{ ...disk, usedBytes: disk.usedBytes }]));
  if (parts.length === 0) return undefined;
  const inodes = parts.flatMap(({ inodesUsed }) => inodesUsed ?? []);
  return {
    timeMs: Math.max(...parts.map(({ timeMs }) => timeMs)),
    fileSystem: ofNode?.fileSystem,
    usedBytes: parts.reduce((sum, { usedBytes }) => sum + usedBytes, 0),
    inodesUsed: inodes.length === 0 ? undefined : inodes.reduce((sum, count) => sum + count, 0),
  };
};

const resources = (usage: Usage | undefined) =>
  usage && {
    cpu:
      usage.cpuNs === undefined && usage.nanoCores === undefined
        ? undefined
        : {
            time: toTimestamp(usage.timeMs),
            usageNanoCores: usage.nanoCores,
            usageCoreNanoSeconds: usage.cpuNs,
            psi: psiOf(usage.cpuPressure),
          },
    memory:
      usage.memoryUsage === undefined && usage.workingSet === undefined
        ? undefined
        : {
            time: toTimestamp(usage.timeMs),
            availableBytes: usage.available,
            usageBytes: usage.memoryUsage,
            workingSetBytes: usage.workingSet,
            rssBytes: usage.rss,
            pageFaults: usage.pageFaults,
            majorPageFaults: usage.majorPageFaults,
            psi: psiOf(usage.memoryPressure),
          },
  };

const ioOf = (usage: Usage | undefined) =>
  usage?.ioPressure && { time: toTimestamp(usage.timeMs), psi: psiOf(usage.ioPressure) };

const swapOf = (usage: Usage | undefined) =>
  usage?.swapUsage === undefined
    ? undefined
    : {
        time: toTimestamp(usage.timeMs),
        swapAvailableBytes: usage.swapAvailable,
        swapUsageBytes: usage.swapUsage,
      };

const psiOf = (pressure: Pressure | undefined) => pressure && { full: pressure.full, some: pressure.some };

const networkOf = (network: NetworkFigures | undefined) => {
  if (!network) return undefined;
  const first = network.interfaces.find(({ name }) => name === network.defaultInterface);
  return {
    time: toTimestamp(network.timeMs),
    name: first?.name ?? '',
    ...(first && countersOf(first)),
    interfaces: network.interfaces.map((each) => ({ name: each.name, ...countersOf(each) })),
  };
};

const countersOf = ({ rxBytes, rxErrors, txBytes, txErrors }: InterfaceFigures) => ({
  rxBytes,
  rxErrors,
  txBytes,
  txErrors,
});

const diskOf = (disk: DiskFigures | undefined) =>
  disk && {
    time: toTimestamp(disk.timeMs),
    availableBytes: disk.fileSystem?.availableBytes,
    capacityBytes: disk.fileSystem?.capacityBytes,
    usedBytes: disk.usedBytes,
    ...(disk.fileSystem &&
      disk.fileSystem.inodes > 0 && { inodesFree: disk.fileSystem.inodesFree, inodes: disk.fileSystem.inodes }),
    inodesUsed: disk.inodesUsed,
  };
