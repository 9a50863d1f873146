import { concatMap, defer, from, ignoreElements, type Observable, of } from 'rxjs';
import { type CgroupName, cgroupPath, parseCgroupPath } from '../../model/cgroups/cgroup-name.js';
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import type { Cgroups } from '../../streams/ports.js';
import { directoriesIn, killBelow, removeTree } from './cgroup-tree.js';

/** Cgroups as directories with files: what differs between the versions of cgroups. Paths are relative to the mount. */
export interface CgroupFiles {
  readonly version: 1 | 2;
  readonly hugePageSizes: readonly bigint[];
  /** All that a cgroup has, one in each tree. */
  readonly directories: (path: string) => readonly string[];
  /** Paths of what it lacks. */
  readonly missing: (path: string) => readonly string[];
  /** Makes it and what is above it, with all controllers. */
  readonly make: (path: string) => Promise<void>;
  /** Writes settings; resolves with the problems of those that were refused. */
  readonly write: (path: string, resources: CgroupResources) => Promise<readonly string[]>;
}

/** The `Cgroups` port where we make cgroups ourselves. */
export const cgroupfs = (files: CgroupFiles): Cgroups => {
  const pathOf = (name: CgroupName) => cgroupPath('cgroupfs', name);
  return {
    ...cgroupsIn(files, pathOf),
    nameOf: (path) => parseCgroupPath('cgroupfs', path),
    children: childrenIn(files, pathOf, (parent, entry) => [...parent, entry]),
  };
};

/** Whatever does not hang on how the directories are called. */
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
  kill: (name) => effect(() => killBelow(files.directories(pathOf(name)))),
  remove: (name) => effect(() => inEach(files.directories(pathOf(name)), removeTree)),
});

/** Children as directories, each once although it may be in several trees. */
export const childrenIn =
  (
    files: CgroupFiles,
    pathOf: (name: CgroupName) => string,
    nameOf: (parent: CgroupName, entry: string) => CgroupName,
  ): Cgroups['children'] =>
  (name) =>
    defer(async () => {
      const found = await Promise.all(files.directories(pathOf(name)).map(directoriesIn));
      return [...new Set(found.flat())].map((entry) => nameOf(name, entry));
    });

/** In each tree, whatever happens in another; then the first error. */
const inEach = async (directories: readonly string[], act: (directory: string) => Promise<void>): Promise<void> => {
  const results = await Promise.allSettled(directories.map(act));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
};

export const effect = (run: () => Promise<unknown>): Observable<never> =>
  defer(() => from(run())).pipe(ignoreElements());
