import { execFile } from 'node:child_process';
import { type BigIntStats, constants, type Dir, type Dirent, type Stats } from 'node:fs';
import * as files from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { makeDirectories } from '../../processes/make-directories.js';

/** A path; bytes for names that are not UTF-8. */
export type Path = string | Buffer;

/** The calls to the kernel by which volumes are made. Each fails with Node's error, or with the output of its command. */
export interface FileCalls {
  readonly chmod: (path: Path, mode: number) => Promise<void>;
  /** Does not follow a link. An id of -1 stays as it is. */
  readonly chown: (path: Path, user: number, group: number) => Promise<void>;
  readonly lstat: (path: Path) => Promise<Stats>;
  readonly stat: (path: Path) => Promise<Stats>;
  readonly identity: (path: Path) => Promise<BigIntStats>;
  readonly fileSystem: (path: Path) => Promise<{ readonly type: number }>;
  readonly mkdir: (path: Path, mode: number) => Promise<void>;
  readonly mkdirs: (path: string, mode: number) => Promise<void>;
  readonly open: (path: Path, flags: number, mode?: number) => Promise<FileHandle>;
  readonly openDirectory: (path: Path) => Promise<Dir>;
  readonly names: (path: string) => Promise<readonly string[]>;
  readonly entries: (path: string) => Promise<readonly Dirent[]>;
  /** Follows no link, and does not wait for the writer of a pipe. */
  readonly read: (path: string) => Promise<Buffer>;
  readonly readLink: (path: string) => Promise<string>;
  readonly realPath: (path: string) => Promise<string>;
  readonly rename: (from: Path, to: Path) => Promise<void>;
  readonly rmdir: (path: Path) => Promise<void>;
  readonly symlink: (target: string, path: string) => Promise<void>;
  readonly unlink: (path: Path) => Promise<void>;
  /** Makes a file that does not exist. */
  readonly create: (path: string, data: Uint8Array, mode: number) => Promise<void>;
  readonly mount: (type: string, source: string, target: string, options: readonly string[]) => Promise<void>;
  /** Mounts a file or directory a second time, without the mounts below it. `givesBack`: mounts below the target reach the source. */
  readonly bind: (source: string, target: string, givesBack?: boolean) => Promise<void>;
  /** Ends the propagation of mounts and unmounts between a mount with all below it and others. */
  readonly separate: (path: string) => Promise<void>;
  readonly unmount: (path: string) => Promise<void>;
}

/** The calls of this machine. `before` runs before each call; tests use it to end the work there. */
export const fileCalls = (before?: (call: string) => void): FileCalls => {
  if (!before) return MACHINE;
  const watched = Object.entries(MACHINE).map(([name, call]: [string, (...args: never[]) => unknown]) => [
    name,
    async (...args: never[]) => {
      before(name);
      return await call(...args);
    },
  ]);
  return Object.fromEntries(watched) as FileCalls;
};

// Node's types lack flags by number here.
const READ = (constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK) as unknown as string;

const MACHINE: FileCalls = {
  chmod: files.chmod,
  chown: files.lchown,
  lstat: (path) => files.lstat(path),
  stat: (path) => files.stat(path),
  identity: (path) => files.lstat(path, { bigint: true }),
  fileSystem: (path) => files.statfs(path),
  mkdir: async (path, mode) => {
    await files.mkdir(path, { mode });
  },
  mkdirs: async (path, mode) => {
    await makeDirectories(path, mode);
  },
  open: files.open,
  // Node's types lack the encoding `buffer`, without which names that are not UTF-8 would be lost.
  openDirectory: (path) => files.opendir(path, { encoding: 'buffer' as BufferEncoding }),
  names: (path) => files.readdir(path),
  entries: (path) => files.readdir(path, { withFileTypes: true }),
  read: (path) => files.readFile(path, { flag: READ }),
  readLink: (path) => files.readlink(path),
  realPath: (path) => files.realpath(path),
  rename: files.rename,
  rmdir: (path) => files.rmdir(path),
  symlink: (target, path) => files.symlink(target, path),
  unlink: files.unlink,
  create: async (path, data, mode) => {
    try {
      await files.writeFile(path, data, { flag: 'wx', mode });
    } catch (error) {
      // Node leaves out the path if writing fails, as on a full disk.
      if (error instanceof Error && !error.message.includes(path)) error.message += ` '${path}'`;
      throw error;
    }
  },
  mount: (type, source, target, options) =>
    run('mount', ['-t', type, ...(options.length > 0 ? ['-o', options.join(',')] : []), '--', source, target], target),
  // The command would otherwise resolve the source by itself, and a link could lead elsewhere by then.
  bind: (source, target, givesBack = false) =>
    run('mount', ['--no-canonicalize', '--bind', ...(givesBack ? [] : ['--make-slave']), '--', source, target], target),
  separate: (path) => run('mount', ['--make-rprivate', '--', path], path),
  unmount: (path) => run('umount', ['--', path], path),
};

const execute = promisify(execFile);

/** Errors: the output of the command, with the path. */
const run = async (command: string, args: readonly string[], path: string): Promise<void> => {
  try {
    await execute(command, [...args], { env: { ...process.env, LC_ALL: 'C' } });
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    throw new Error(`${command} of ${path} failed: ${stderr.trim() || message}`, { cause: error });
  }
};
