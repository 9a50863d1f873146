import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, from, ignoreElements } from 'rxjs';
import type { CheckpointName } from '../../model/resize/checkpoints.js';
import { replaceFile } from '../../processes/replace-file.js';
import type { Checkpoints } from '../../streams/ports/checkpoints.js';

/** The checkpoints in the root directory of the agent. Errors: Node's own, which name the path. */
export const checkpointFiles = (rootDirectory: string): Checkpoints => {
  const pathOf = (name: CheckpointName): string => join(rootDirectory, name);
  return {
    read: (name) => defer(() => readFile(pathOf(name), 'utf8').catch(undefinedIfMissing)),
    write: (name, content) =>
      defer(() => from(replaceFile(pathOf(name), content, { mode: 0o600 }))).pipe(ignoreElements()),
    pathOf,
  };
};

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};
