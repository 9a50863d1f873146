import type {
  CgroupSample,
  DiskFigures,
  FileSystemFigures,
  MachineSample,
  NetworkFigures,
  NodeFigures,
} from './node-sample.js';
import { textChanges } from '../values/text-changes.js';
import type { MachineTotals } from './usage.js';

/** A cgroup to read. */
export interface WantedCgroup {
  /** `pod<uid>` or the ID of a container, by which its directory is found; a path below the mount if it begins with a slash. */
  readonly key: string;
  /** Reads the number of its processes, and the network of the first one; in full detail also what they have open. */
  readonly hasProcesses?: boolean;
  /** Reads when it was made. */
  readonly hasCreation?: boolean;
}

export interface ReadCgroup extends CgroupSample {
  /** The interfaces of its network namespace; undefined if that is the one of the node. */
  readonly network: NetworkFigures | undefined;
  /** Unix milliseconds; undefined if this was not asked for. */
  readonly createdAtMs?: number | undefined;
}

export interface CgroupReading {
  /** By key. A cgroup that does not exist, or ended during the read, is left out. */
  readonly cgroups: ReadonlyMap<string, ReadCgroup>;
  /** Texts of failed reads. A failed read leaves out its own figures only. */
  readonly problems: readonly string[];
}

export interface MachineReading {
  readonly timeMs: number;
  readonly totals: MachineTotals;
  readonly network: NetworkFigures | undefined;
  readonly tasks: NodeFigures['tasks'];
  readonly bootedAtMs: number | undefined;
  /** The path of the cgroup of the agent; undefined in the root cgroup. */
  readonly ownCgroup: string | undefined;
  readonly processors: Pick<MachineSample, 'physicalCores' | 'sockets'>;
  readonly devices: MachineSample['devices'];
}

/** The file systems of the node. */
export interface NodeDisks {
  readonly node: DiskFigures | undefined;
  readonly images: DiskFigures | undefined;
  readonly containers: DiskFigures | undefined;
  /** By mount point. */
  readonly fileSystems: ReadonlyMap<string, FileSystemFigures>;
  readonly problems: readonly string[];
}

export const NO_DISKS: NodeDisks = {
  node: undefined,
  images: undefined,
  containers: undefined,
  fileSystems: new Map(),
  problems: [],
};

/** The problems of a sample to log: the `named` ones each, and the count of all others. */
export interface NewProblems {
  readonly named: readonly string[];
  readonly more: number;
}

/** Returns the problems, each once, that the sample before did not have, the first `most` of them by name. */
export const newProblems = (before: readonly string[], problems: readonly string[], most: number): NewProblems => {
  const { added } = textChanges(before, [...new Set(problems)]);
  return { named: added.slice(0, most), more: Math.max(0, added.length - most) };
};
