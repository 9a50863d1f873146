import type { CgroupName } from '../../model/cgroups/cgroup-name.js';
import type { CgroupReading, CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { Observable } from 'rxjs';

/**
 * The cgroups of this machine, created by the driver of the runtime. Calls are cold. The parents of a cgroup are created with it. No
 * process is put into one.
 *
 * Errors: Node's own and those of the driver, which name the path or the unit.
 */
export interface Cgroups {
  /** The version of the kernel; 1 also if cgroup v2 exists beside it without controllers. */
  readonly version: 1 | 2;
  /** The page sizes that can be limited, in bytes; none if the kernel does not limit huge pages by cgroup. */
  readonly hugePageSizes: readonly bigint[];
  /** Every CPU of the machine, such as `0-3`, if the driver needs them; else absent. */
  readonly allCpus?: string;
  /** The path that the runtime receives, for every driver. */
  readonly pathOf: (name: CgroupName) => string;
  /** The name of a configured path. */
  readonly nameOf: (path: string) => CgroupName;
  /** Emits the missing paths of the cgroup once; none if it exists. */
  readonly missing: (name: CgroupName) => Observable<readonly string[]>;
  /** Creates the cgroup, or its missing parts. Emits a text for each setting that the kernel refuses; these do not fail the call. */
  readonly create: (name: CgroupName, resources: CgroupResources) => Observable<string>;
  /** Changes the settings. Errors: also if the kernel refuses one, after all have been tried. */
  readonly update: (name: CgroupName, resources: CgroupResources) => Observable<never>;
  /** Emits once what the cgroup has; undefined if it does not exist. */
  readonly read: (name: CgroupName) => Observable<CgroupReading | undefined>;
  /** Emits the cgroups directly below once; none if it does not exist. */
  readonly children: (name: CgroupName) => Observable<readonly CgroupName[]>;
  /** Sends SIGKILL to every process in it and below; the processes end later. */
  readonly kill: (name: CgroupName) => Observable<never>;
  /** Removes the cgroup and all below. A missing cgroup is no error. Errors: also while processes are in it. */
  readonly remove: (name: CgroupName) => Observable<never>;
}
