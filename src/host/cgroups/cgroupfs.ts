import { concatMap, defer, from, ignoreElements, type Observable, of } from 'rxjs';
import { type CgroupName, cgroupPath, parseCgroupPath } from '../../model/cgroups/cgroup-name.js';
import type { CgroupReading, CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { Cgroups } from '../../streams/ports/cgroups.js';
import { bytePath } from '../../processes/byte-path.js';
import { directoriesIn, killBelow, removeTree } from './cgroup-tree.js';

/** Cgroups as directories with files. The two versions of cgroups implement it. Paths are relative to the mount. */
export interface CgroupFiles {
  readonly version: 1 | 2;
  readonly hugePageSizes: readonly bigint[];
  /** The directories of the cgroup, one in each tree. */
  readonly directories: (path: string) => readonly string[];
  /** The paths that the cgroup lacks. */
  readonly missing: (path: string) => readonly string[];
  /** Makes the cgroup and its ancestors, with all controllers. */
  readonly make: (path: string) => Promise<void>;
  /** What the cgroup has; undefined if it does not exist. */
  readonly read: (path: string) => CgroupReading | undefined;
  /** Writes settings; resolves with one text for each setting that the kernel refused. */
  readonly write: (path: string, resources: CgroupResources) => Promise<readonly string[]>;
}

/** The `Cgroups` port for the driver `cgroupfs`: the agent makes the cgroups. */
export const cgroupfs = (files: CgroupFiles): Cgroups => {
  const pathOf = (name: CgroupName) => cgroupPath('cgroupfs', name);
  return {
    ...cgroupsIn(files, pathOf),
    nameOf: (path) => parseCgroupPath('cgroupfs', path),
    children: childrenIn(files, pathOf, (parent, entry) => [...parent, entry]),
  };
};

/** The calls of the port that do not depend on the names of the directories. */
export const cgroupsIn = (
  files: CgroupFiles,
  pathOf: (name: CgroupName) => string,
): Omit<Cgroups, 'nameOf' | 'children'> => ({
  version: files.version,
  hugePageSizes: files.hugePageSizes,
  pathOf,
  missing: (name) => defer(() => of(files.missing(pathOf(name)))),
  create: (name, resources) =>
    defer(async () => {
      await files.make(pathOf(name));
      return files.write(pathOf(name), resources);
    }).pipe(concatMap((problems) => problems)),
  update: (name, resources) =>
    effect(async () => {
      const problems = await files.write(pathOf(name), resources);
      if (problems.length > 0) throw new Error(problems.join('; '));
    }),
  read: (name) => defer(() => of(files.read(pathOf(name)))),
  kill: (name) => effect(() => killBelow(files.directories(pathOf(name)))),
  remove: (name) => effect(() => inEach(files.directories(pathOf(name)), removeTree)),
});

/** The child cgroups by their directories. A directory that is in several trees is listed once. */
export const childrenIn =
  (
    files: CgroupFiles,
    pathOf: (name: CgroupName) => string,
    nameOf: (parent: CgroupName, entry: string) => CgroupName,
  ): Cgroups['children'] =>
  (name) =>
    defer(async () => {
      const found = await Promise.all(files.directories(pathOf(name)).map((path) => directoriesIn(bytePath(path))));
      return [...new Set(found.flat())].map((entry) => nameOf(name, entry));
    });

/** Acts in every tree, also after an error in one of them; then fails with the first error. */
const inEach = async (directories: readonly string[], act: (directory: string) => Promise<void>): Promise<void> => {
  const results = await Promise.allSettled(directories.map(act));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
};

export const effect = (run: () => Promise<unknown>): Observable<never> =>
  defer(() => from(run())).pipe(ignoreElements());
