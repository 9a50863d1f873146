import type { MachineFacts } from '../node/machine-facts.js';
import type { PodRef } from '../pod/pod.js';
import type { CgroupUsage } from './cgroup-usage.js';
import type { DiskTransfers, InterfaceFigures } from './proc-files.js';
import type { Usage } from './usage.js';

/** The space of a file system. Bytes and inodes. */
export interface FileSystemFigures {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  /** 0 on file systems without a limit, such as btrfs. */
  readonly inodes: number;
  readonly inodesFree: number;
}

/** The space that files of a directory take; a file with several names counts once. */
export interface DirectoryFigures {
  readonly timeMs: number;
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

/** A usage of a part of a file system. */
export interface DiskFigures {
  readonly timeMs: number;
  readonly fileSystem: FileSystemFigures | undefined;
  readonly usedBytes: number | undefined;
  readonly inodesUsed: number | undefined;
}

/** A local file system of the node. */
export interface MountedFileSystem {
  /** The source of its mount, such as `/dev/sda1`. */
  readonly source: string;
  /** `<major>:<minor>` */
  readonly device: string;
  readonly timeMs: number;
  readonly space: FileSystemFigures;
  /** Undefined if the kernel counts none for its device, as for an overlay. */
  readonly transfers: DiskTransfers | undefined;
}

/** The open files of the processes of a cgroup. */
export interface OpenFiles {
  readonly descriptors: number;
  readonly sockets: number;
  /** The soft limit of descriptors of the first process, -1 without a limit; undefined if it is not known. */
  readonly softLimit: number | undefined;
}

/** One cgroup with its figures. */
export interface CgroupSample {
  /** The path below the mount, such as `/kubepods/pod1`. */
  readonly id: string;
  readonly timeMs: number;
  readonly usage: CgroupUsage;
  /** The processes in it and below; undefined if they were not read. */
  readonly processes: number | undefined;
  /** Undefined if they were not read. */
  readonly openFiles?: OpenFiles | undefined;
}

export interface NetworkFigures {
  readonly timeMs: number;
  /** The interface of the default route, if there is one. */
  readonly defaultInterface: string | undefined;
  readonly interfaces: readonly InterfaceFigures[];
}

export interface ContainerSample {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly usage: Usage | undefined;
  readonly cgroup: CgroupSample | undefined;
  readonly rootfs: DiskFigures | undefined;
  readonly logs: DiskFigures | undefined;
}

export interface VolumeSample {
  readonly name: string;
  /** Its bytes count as ephemeral storage of the pod. */
  readonly isEphemeral: boolean;
  readonly disk: DiskFigures;
}

export interface PodSample {
  readonly ref: PodRef;
  readonly sandboxId: string;
  /** Unix milliseconds of the start in its status. */
  readonly startedAtMs: number;
  readonly usage: Usage | undefined;
  readonly cgroup: CgroupSample | undefined;
  /** The cgroup of the sandbox alone; undefined if it contains the containers. */
  readonly sandbox: CgroupSample | undefined;
  /** Undefined for pods in the network of the node. */
  readonly network: NetworkFigures | undefined;
  readonly processes: number | undefined;
  readonly containers: readonly ContainerSample[];
  readonly volumes: readonly VolumeSample[];
  /** Its file `/etc/hosts`; undefined if none was written for it. */
  readonly hostsFile: DiskFigures | undefined;
}

/** A part of the system outside of pods. Source: stats/v1alpha1 SystemContainerKubelet and the others */
export interface SystemContainerSample {
  readonly name: 'kubelet' | 'runtime' | 'misc' | 'pods';
  /** Unix milliseconds: the start of the agent, or the creation of the cgroup. */
  readonly startedAtMs: number | undefined;
  readonly usage: Usage;
}

export interface NodeFigures {
  readonly name: string;
  /** Unix milliseconds of the boot. */
  readonly bootedAtMs: number | undefined;
  readonly usage: Usage | undefined;
  readonly network: NetworkFigures | undefined;
  readonly disk: DiskFigures | undefined;
  readonly imageDisk: DiskFigures | undefined;
  readonly containerDisk: DiskFigures | undefined;
  readonly tasks: { readonly timeMs: number; readonly most: number | undefined; readonly current: number } | undefined;
}

/** The machine for its metrics. */
export interface MachineSample {
  readonly facts: MachineFacts;
  /** Undefined if the kernel does not describe its processors, as in some virtual machines. */
  readonly physicalCores: number | undefined;
  readonly sockets: number | undefined;
  /** Names of block devices, such as `sda`, by `<major>:<minor>`. */
  readonly devices: ReadonlyMap<string, string>;
}

/** All figures of one sample of the node. */
export interface NodeSample {
  readonly timeMs: number;
  /** The reason why the pods of the runtime are not known; then there are none. */
  readonly failure?: string;
  readonly node: NodeFigures;
  readonly systemContainers: readonly SystemContainerSample[];
  readonly pods: readonly PodSample[];
  /** Cgroups of no pod: the root, the one of all pods, those of QoS classes. */
  readonly groups: readonly CgroupSample[];
  /** The file systems of the node; none unless the sample has all figures of cgroups. */
  readonly fileSystems: readonly MountedFileSystem[];
  /** Undefined unless the sample has all figures of cgroups, or if the machine cannot be read. */
  readonly machine?: MachineSample;
  /** Faults that left out figures. Not: something that ended meanwhile. */
  readonly problems: readonly string[];
}
