import { access, chmod, readdir, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { defer, from, ignoreElements, type Observable } from 'rxjs';
import type { NodeFiles } from '../../streams/ports/node-files.js';
import { makeDirectories } from '../../processes/make-directories.js';
import { syncDirectory } from '../../processes/sync-directory.js';

/** The `NodeFiles` port for the file system of this machine. Errors: Node's own, which name the call and the path. */
export const nodeFiles: NodeFiles = {
  makeDirectory: (path, mode) => effect(() => makeDirectory(path, mode)),
  keepDirectory: (path, mode, root) => effect(() => keepDirectory(path, mode, root)),
  listDirectory: (path) => defer(() => from(readdir(path).catch(noneIfMissing))),
  remove: (path) => effect(() => rm(path, { recursive: true, force: true })),
  removeLog: (path) =>
    effect(async () => {
      const names = await readdir(dirname(path)).catch(noneIfMissing);
      const rotated = names.filter((name) => name.startsWith(basename(path)));
      // All removals have ended before one of them is reported to have failed.
      const removals = await Promise.allSettled(rotated.map((name) => rm(join(dirname(path), name), { force: true })));
      const failed = removals.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    }),
  link: (target, path) =>
    effect(async () => {
      if (!(await leadsSomewhere(target))) return;
      await makeDirectories(dirname(path), 0o755);
      await symlink(target, path);
    }),
  danglingLinks: (directory) => defer(() => from(danglingLinks(directory))),
};

const makeDirectory = async (path: string, mode: number): Promise<void> => {
  const made = await makeDirectories(path, mode);
  // The umask of the process may have removed bits from the mode.
  if (made !== undefined) await chmod(path, mode);
};

const keepDirectory = async (path: string, mode: number, root: string): Promise<void> => {
  await makeDirectory(path, mode);
  const top = resolve(root);
  for (let parent = dirname(resolve(path)); ; parent = dirname(parent)) {
    await syncDirectory(parent);
    if (parent === top || parent === dirname(parent)) return;
  }
};

const danglingLinks = async (directory: string): Promise<string[]> => {
  const entries = await readdir(directory, { withFileTypes: true }).catch(noneIfMissing);
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name);
  const lost = await Promise.all(links.map(async (name) => !(await leadsSomewhere(join(directory, name)))));
  return links.filter((_, index) => lost[index]);
};

/** Only a target that is certainly missing counts as missing. */
const leadsSomewhere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT' && code !== 'ENOTDIR',
  );

const effect = (run: () => Promise<unknown>): Observable<never> => defer(() => from(run())).pipe(ignoreElements());

const noneIfMissing = (error: NodeJS.ErrnoException): never[] => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
};
