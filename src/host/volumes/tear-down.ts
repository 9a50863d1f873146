import type { VolumeSetup } from '../../model/volumes/volume-setup.js';
import type { FileCalls } from './file-calls.js';
import { unmountAll } from './mounted.js';
import { removeTree } from './remove-tree.js';

/** Source: pkg/volume/emptydir/empty_dir.go TearDownAt */
export const tearDown = async (
  calls: FileCalls,
  { directory, markerDirectory }: Pick<VolumeSetup, 'directory' | 'markerDirectory'>,
): Promise<void> => {
  await removeTree(calls, markerDirectory);
  await unmountAll(calls, directory);
  await removeTree(calls, directory);
};
