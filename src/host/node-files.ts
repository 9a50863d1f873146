import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { defer, from, ignoreElements, type Observable } from 'rxjs';
import type { NodeFiles } from '../streams/ports.js';

/** The `NodeFiles` port over this machine's file system. Errors: Node's own, which name the call and the path. */
export const nodeFiles: NodeFiles = {
  makeDirectory: (path, mode) =>
    effect(async () => {
      const made = await mkdir(path, { recursive: true, mode });
      // The process's umask may have taken bits away from what was just made.
      if (made !== undefined) await chmod(path, mode);
    }),
  listDirectory: (path) => defer(() => from(readdir(path).catch(noneIfMissing))),
  remove: (path) => effect(() => rm(path, { recursive: true, force: true })),
  removeLog: (path) =>
    effect(async () => {
      const names = await readdir(dirname(path)).catch(noneIfMissing);
      const rotated = names.filter((name) => name.startsWith(basename(path)));
      await Promise.all(rotated.map((name) => rm(join(dirname(path), name), { force: true })));
    }),
};

const effect = (run: () => Promise<unknown>): Observable<never> => defer(() => from(run())).pipe(ignoreElements());

const noneIfMissing = (error: NodeJS.ErrnoException): string[] => {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
};
