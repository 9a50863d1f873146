import type { DiskFigures, NodeSample, PodSample } from '../stats/node-sample.js';
import type { EvictionSignal } from './signals.js';

/** The resource of one signal: bytes, inodes or processes. */
export interface SignalObservation {
  readonly available: number;
  readonly capacity: number;
  /** Unix milliseconds. */
  readonly timeMs: number;
}

/** The observed signals; one that cannot be measured is absent. */
export type SignalObservations = Readonly<Partial<Record<EvictionSignal, SignalObservation>>>;

/** The usage of a part of a disk; unknown figures are absent. */
export interface DiskUse {
  readonly bytes?: number;
  readonly inodes?: number;
}

/** The usage of one pod. Bytes and counts; unknown figures are absent. */
export interface PodFigures {
  readonly uid: string;
  readonly workingSet?: number;
  readonly processes?: number;
  readonly containers: readonly ContainerFigures[];
  readonly volumes: readonly VolumeFigures[];
  readonly hostsFile?: DiskUse;
}

export interface ContainerFigures {
  readonly name: string;
  readonly workingSet?: number;
  /** Its writable layer. */
  readonly rootfs?: DiskUse;
  readonly logs?: DiskUse;
}

export interface VolumeFigures extends DiskUse {
  readonly name: string;
  /** Its bytes count as ephemeral storage of the pod. */
  readonly isEphemeral: boolean;
}

/**
 * Returns the signals of a sample.
 *
 * Source: pkg/kubelet/eviction/helpers.go makeSignalObservations
 */
export const observationsOf = ({ timeMs, node, systemContainers }: NodeSample): SignalObservations => {
  const pods = systemContainers.find(({ name }) => name === 'pods')?.usage;
  const { tasks } = node;
  return Object.fromEntries([
    ...memoryOf('memory.available', node.usage),
    ...memoryOf('allocatableMemory.available', pods),
    // Their space is read for the sample; the times of images and layers are those of the runtime's own figures.
    ...diskOf('nodefs', node.disk, timeMs),
    ...diskOf('imagefs', node.imageDisk, timeMs),
    ...diskOf('containerfs', node.containerDisk, timeMs),
    ...(tasks?.most === undefined
      ? []
      : [observed('pid.available', tasks.most - tasks.current, tasks.most, tasks.timeMs)]),
  ]);
};

type Entry = readonly [EvictionSignal, SignalObservation];

const observed = (signal: EvictionSignal, available: number, capacity: number, timeMs: number): Entry => [
  signal,
  { available, capacity, timeMs },
];

const memoryOf = (signal: EvictionSignal, usage: NodeSample['node']['usage']): readonly Entry[] => {
  if (usage?.available === undefined || usage.workingSet === undefined) return [];
  return [observed(signal, usage.available, usage.available + usage.workingSet, usage.timeMs)];
};

const diskOf = (
  name: 'nodefs' | 'imagefs' | 'containerfs',
  disk: DiskFigures | undefined,
  timeMs: number,
): readonly Entry[] => {
  const space = disk?.fileSystem;
  if (!space) return [];
  return [
    observed(`${name}.available`, space.availableBytes, space.capacityBytes, timeMs),
    // Without a limit of inodes there is no shortage of them.
    ...(space.inodes > 0 ? [observed(`${name}.inodesFree`, space.inodesFree, space.inodes, timeMs)] : []),
  ];
};

/** Returns the usage of each pod of a sample. */
export const podFiguresOf = ({ pods }: Pick<NodeSample, 'pods'>): readonly PodFigures[] => pods.map(figuresOfPod);

const figuresOfPod = ({ ref, usage, processes, containers, volumes, hostsFile }: PodSample): PodFigures => ({
  uid: ref.uid,
  ...(usage?.workingSet !== undefined && { workingSet: usage.workingSet }),
  ...(processes !== undefined && { processes }),
  containers: containers.map((container) => ({
    name: container.name,
    ...(container.usage?.workingSet !== undefined && { workingSet: container.usage.workingSet }),
    ...(container.rootfs && { rootfs: useOf(container.rootfs) }),
    ...(container.logs && { logs: useOf(container.logs) }),
  })),
  volumes: volumes.map(({ name, isEphemeral, disk }) => ({ name, isEphemeral, ...useOf(disk) })),
  ...(hostsFile && { hostsFile: useOf(hostsFile) }),
});

const useOf = ({ usedBytes, inodesUsed }: DiskFigures): DiskUse => ({
  ...(usedBytes !== undefined && { bytes: usedBytes }),
  ...(inodesUsed !== undefined && { inodes: inodesUsed }),
});
