import { constants, type Stats } from 'node:fs';
import { type HostPathType, hostPathType, hostPathTypeError, requireHostPath } from '../../model/volumes/host-path.js';
import type { FileCalls } from './file-calls.js';
import { ifThere } from './file-errors.js';

/** Never blocks, also if a pipe takes the place of the file meanwhile. */
const CREATE = constants.O_RDONLY | constants.O_CREAT | constants.O_NONBLOCK;

/** Links are followed. Source: pkg/volume/hostpath/host_path.go */
export const checkHostPath = async (calls: FileCalls, path: string, type: string): Promise<void> => {
  requireHostPath(path);
  const expected = hostPathType(type);
  if (expected === undefined) return;
  const stats = await ifThere(calls.stat(path));
  if (stats !== undefined && isOfType(stats, expected)) return;
  if (stats === undefined && expected === 'DirectoryOrCreate') return await calls.mkdirs(path, 0o755);
  if (stats === undefined && expected === 'FileOrCreate') return await (await calls.open(path, CREATE, 0o644)).close();
  throw hostPathTypeError(path, expected);
};

const isOfType = (stats: Stats, type: HostPathType): boolean => {
  switch (type) {
    case 'Directory':
    case 'DirectoryOrCreate':
      return stats.isDirectory();
    case 'File':
    case 'FileOrCreate':
      return stats.isFile();
    case 'Socket':
      return stats.isSocket();
    case 'CharDevice':
      return stats.isCharacterDevice();
    case 'BlockDevice':
      return stats.isBlockDevice();
  }
};
