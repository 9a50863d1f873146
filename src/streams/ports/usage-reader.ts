import type { Observable } from 'rxjs';
import type { UsageDetail } from '../../model/stats/cgroup-usage.js';
import type { DirectoryFigures, FileSystemFigures, MountedFileSystem } from '../../model/stats/node-sample.js';
import type { CgroupReading, MachineReading, WantedCgroup } from '../../model/stats/readings.js';

/** Reads the usage that the kernel counts, on request and in slices that do not hold up the event loop. Calls are cold. */
export interface UsageReader {
  /** Emits once. Errors: none. */
  readonly cgroups: (wanted: readonly WantedCgroup[], detail: UsageDetail) => Observable<CgroupReading>;
  /** Emits once. Errors: none; what cannot be read is undefined. */
  readonly machine: () => Observable<MachineReading>;
  /** Emits the local file systems of the node once. Errors: none; what cannot be read is left out. */
  readonly fileSystems: () => Observable<readonly MountedFileSystem[]>;
  /** Emits once. Errors: Node's own, which name the path. */
  readonly fileSystem: (path: string) => Observable<FileSystemFigures>;
  /** Emits the device of the file system of a path once; equal texts are one device. Errors: as above. */
  readonly device: (path: string) => Observable<string>;
  /** Walks a directory with all below, on the same file system, and emits once. Unsubscribing ends the walk. Errors: as above. */
  readonly directory: (path: string) => Observable<DirectoryFigures>;
}
