import { join } from 'node:path';
import { unescapedPlugin } from '../../model/volumes/volume-paths.js';
import type { FoundVolume } from '../../streams/ports/volume-files.js';
import type { FileCalls } from './file-calls.js';
import { ifThere } from './file-errors.js';

/** Returns the volumes of a pod, by names. Source: pkg/kubelet/volumemanager/reconciler */
export const foundVolumes = async (calls: FileCalls, podDirectory: string): Promise<readonly FoundVolume[]> => {
  const found: FoundVolume[] = [];
  const volumesDirectory = join(podDirectory, 'volumes');
  for (const plugin of await directoriesIn(calls, volumesDirectory)) {
    for (const name of await directoriesIn(calls, join(volumesDirectory, plugin)))
      found.push({ plugin: unescapedPlugin(plugin), name });
  }
  const names = new Set(found.map(({ name }) => name));
  const subPaths = await directoriesIn(calls, join(podDirectory, 'volume-subpaths'));
  return [...found, ...subPaths.filter((name) => !names.has(name)).map((name) => ({ name }))];
};

const directoriesIn = async (calls: FileCalls, path: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const name of [...((await ifThere(calls.names(path))) ?? [])].sort()) {
    if ((await ifThere(calls.lstat(join(path, name))))?.isDirectory()) found.push(name);
  }
  return found;
};
