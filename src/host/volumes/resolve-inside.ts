import { join } from 'node:path';
import type { FileCalls } from './file-calls.js';
import { unless } from './file-errors.js';

/** The most links on the way to a file. */
const MAX_LINKS = 255;

/**
 * Returns the path of a file of a volume without links, as a process sees it whose root is the volume: an absolute link begins
 * there, and `..` does not lead out. Links may change before the path is used; `openInside` finds that.
 *
 * Errors: a missing file, or too many links; Node's own.
 * Source: SecureJoin of github.com/cyphar/filepath-securejoin, in pkg/kubelet/kubelet_pods.go makeEnvironmentVariables
 */
export const resolveInside = async (calls: FileCalls, base: string, path: string): Promise<string> => {
  const ahead = path.split('/').reverse();
  let behind: readonly string[] = [];
  for (let links = 0; ;) {
    const name = ahead.pop();
    if (name === undefined) return join(base, ...behind);
    if (name === '' || name === '.') continue;
    if (name === '..') {
      behind = behind.slice(0, -1);
      continue;
    }
    const full = join(base, ...behind, name);
    const target = await unless(calls.readLink(full), 'EINVAL');
    if (target === undefined) {
      behind = [...behind, name];
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw new Error(`ELOOP: too many symbolic links, '${full}'`);
    if (target.startsWith('/')) behind = [];
    ahead.push(...target.split('/').reverse());
  }
};
