import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defer, from, ignoreElements } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import {
  formatShutdownState,
  parseShutdownState,
  SHUTDOWN_STATE_FILE,
  type ShutdownState,
} from '../../model/shutdown/shutdown-state.js';
import { replaceFile } from '../../processes/replace-file.js';
import type { ShutdownStates } from '../../streams/ports/shutdown-states.js';

/**
 * The newest shutdown in a file of the root directory of the agent, in the form of the kubelet. It is replaced as a whole.
 *
 * Errors: Node's own, which name the path; another content, with the path.
 */
export const shutdownStateFile = (rootDirectory: string): ShutdownStates => {
  const path = join(rootDirectory, SHUTDOWN_STATE_FILE);
  return {
    read: () =>
      defer(async (): Promise<ShutdownState> => {
        const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
        return text === undefined ? {} : parse(text, path);
      }),
    write: (state) =>
      defer(() => from(replaceFile(path, `${formatShutdownState(state)}\n`, { mode: 0o644 }))).pipe(ignoreElements()),
  };
};

const undefinedIfMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

const parse = (text: string, path: string): ShutdownState => {
  try {
    return parseShutdownState(text);
  } catch (error) {
    throw new Error(`${path}: ${errorText(error)}`, { cause: error });
  }
};
