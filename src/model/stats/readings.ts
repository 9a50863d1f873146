import type {
  CgroupSample,
  DiskFigures,
  FileSystemFigures,
  MachineSample,
  NetworkFigures,
  NodeFigures,
} from './node-sample.js';
import type { MachineTotals } from './usage.js';

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
