import type { FilesystemUsage } from '../../generated/runtime/v1/api.js';
import type { DiskFigures, FileSystemFigures } from './node-sample.js';
import type { NodeDisks } from './readings.js';
import { numberOf } from './usage.js';

/** The usage of a layer or of all images, with the space of its file system. */
export const diskOf = (
  usage: FilesystemUsage | undefined,
  fileSystems: NodeDisks['fileSystems'],
): DiskFigures | undefined =>
  usage && {
    timeMs: Number(usage.timestamp) / 1_000_000,
    fileSystem: fileSystems.get(usage.fsId?.mountpoint ?? ''),
    usedBytes: numberOf(usage.usedBytes),
    inodesUsed: numberOf(usage.inodesUsed),
  };

/** The file systems of images and of containers in a reply of the runtime; undefined if it names none, or did not answer. */
export interface ImageFileSystems {
  readonly image: FilesystemUsage | undefined;
  readonly container: FilesystemUsage | undefined;
  readonly problems: readonly string[];
}

/** Returns the mount points of these usages, each once. */
export const mountPointsOf = (usages: readonly (FilesystemUsage | undefined)[]): readonly string[] => [
  ...new Set(usages.flatMap((usage) => usage?.fsId?.mountpoint || [])),
];

/**
 * Returns the file systems of the node: `root` is the space of the one with the directory of the agent, `spaces` those by mount point, and
 * undefined is a space that could not be read. `timeMs` is the time of the read of `root`, in Unix milliseconds.
 */
export const nodeDisksOf = (
  { image, container, problems }: ImageFileSystems,
  root: FileSystemFigures | undefined,
  spaces: ReadonlyMap<string, FileSystemFigures | undefined>,
  timeMs: number,
): NodeDisks => {
  const fileSystems = new Map([...spaces].flatMap(([path, space]) => (space ? [[path, space] as const] : [])));
  return {
    node: root && {
      timeMs,
      fileSystem: root,
      usedBytes: root.usedBytes,
      inodesUsed: root.inodes > 0 ? root.inodes - root.inodesFree : undefined,
    },
    images: diskOf(image, fileSystems),
    containers: diskOf(container, fileSystems),
    fileSystems,
    problems,
  };
};
