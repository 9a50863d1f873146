import type { FilesystemUsage } from '../../generated/runtime/v1/api.js';
import type { DiskFigures } from './node-sample.js';
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
