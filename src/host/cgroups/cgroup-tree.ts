import { closeSync, existsSync, openSync, readFileSync, write } from 'node:fs';
import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { CgroupHierarchy } from '../../model/cgroups/cgroup-mounts.js';
import { errorText } from '../../model/cri-error.js';

/** What to write into a file below the directory of a cgroup. */
export interface Setting {
  readonly directory: string;
  readonly file: string;
  readonly value: string;
}

/** Every directory that a cgroup has or would have, one for each tree. */
export const directoriesOf = (hierarchies: readonly CgroupHierarchy[], path: string): readonly string[] =>
  hierarchies.map(({ mountPoint }) => join(mountPoint, path));

/**
 * Asked at once, as `contentOf` is: the kernel answers both from memory and lets nobody wait, so that handing the question to
 * another thread takes many times as long as the answer. What may wait for others, such as making and writing, goes there.
 */
export const isThere = existsSync;

/** What is in a file of a cgroup now, without the white space around it. Errors: it cannot be read. */
const contentOf = (path: string): string => readFileSync(path, 'utf8').trim();

/** Makes the directory and those above it that are missing, again if a neighbour removes one of them meanwhile. */
export const makeDirectory = async (path: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(path, { recursive: true, mode: 0o755 });
      return;
    } catch (error) {
      if (attempt === 5 || codeOf(error) !== 'ENOENT') throw error;
    }
  }
};

/**
 * Writes in order, then once more what was refused, since a setting may hang on one that comes after it. Returns the errors
 * of what stayed refused, each with path, value and reason.
 */
export const writeSettings = async (settings: readonly Setting[]): Promise<readonly string[]> => {
  const refused: Setting[] = [];
  for (const setting of settings) if ((await tryWrite(setting)) !== undefined) refused.push(setting);
  const problems: string[] = [];
  for (const setting of refused) {
    const problem = await tryWrite(setting);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
};

const tryWrite = async ({ directory, file, value }: Setting): Promise<string | undefined> => {
  const path = join(directory, file);
  try {
    if (contentOf(path) !== value) await writeInto(path, value);
    return undefined;
  } catch (error) {
    return `${path}: ${value} was refused: ${errorText(error)}`;
  }
};

const writeText: (descriptor: number, text: string) => Promise<unknown> = promisify(write);

/** Errors: the kernel refuses the value; there is no such file, for in a cgroup only the kernel makes files. */
export const writeInto = async (path: string, value: string): Promise<void> => {
  const descriptor = openSync(path, 'r+');
  try {
    await writeText(descriptor, value);
  } finally {
    closeSync(descriptor);
  }
};

/** Names of the directories in a directory; none when it is missing. */
export const directoriesIn = async (path: string): Promise<readonly string[]> => {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
};

/** Processes in the cgroup and below, as far as our namespace can name them. */
export const pidsBelow = async (directory: string): Promise<readonly number[]> => {
  const own = await pidsIn(directory);
  const below = await Promise.all((await directoriesIn(directory)).map((name) => pidsBelow(join(directory, name))));
  return [...new Set([...own, ...below.flat()])];
};

const pidsIn = async (directory: string): Promise<readonly number[]> => {
  try {
    const lines = await readFile(join(directory, 'cgroup.procs'), 'utf8');
    // A process of another namespace is listed as 0, which to kill(2) is our own group.
    return lines
      .split('\n')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch (error) {
    // A threaded cgroup has no processes of its own.
    if (isGone(error) || codeOf(error) === 'EOPNOTSUPP') return [];
    throw error;
  }
};

/** Kills every process in the directories and below. Errors: one that we may not kill. */
export const killBelow = async (directories: readonly string[]): Promise<void> => {
  const pids = new Set((await Promise.all(directories.map(pidsBelow))).flat());
  pids.delete(process.pid);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  }
};

/** Removes the directory and everything below, deepest first. Errors: EBUSY while processes are in it. */
export const removeTree = async (directory: string): Promise<void> => {
  try {
    for (const name of await directoriesIn(directory)) await removeTree(join(directory, name));
    await rmdir(directory);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
};

/** The directories from below `top` down to `directory`, which is the last one. */
export const levelsBetween = (top: string, directory: string): readonly string[] =>
  directory === top || directory.length <= top.length ? [] : [...levelsBetween(top, dirname(directory)), directory];

/** A file that has nothing in it counts as empty, and so does a missing one. */
export const readOrEmpty = (path: string): string => {
  try {
    return contentOf(path);
  } catch (error) {
    if (isGone(error)) return '';
    throw error;
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
/** Reading a file of a cgroup that is being removed says ENODEV. */
const isGone = (error: unknown): boolean => ['ENOENT', 'ENODEV', 'ENOTDIR'].includes(codeOf(error) ?? '');
