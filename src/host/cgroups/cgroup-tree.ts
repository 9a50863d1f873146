import { closeSync, openSync, readFileSync, statSync, write } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { CgroupHierarchy } from '../../model/cgroups/cgroup-mounts.js';
import { errorText } from '../../model/cri/cri-error.js';
import { type BytePath, bytePath, osPath } from '../../processes/byte-path.js';
import { pidsInCgroup } from '../../processes/cgroup-procs.js';
import { sendSignalOrThrow } from '../../processes/send-signal.js';
import { makeDirectories } from '../../processes/make-directories.js';

/** A text to write into a file below the directory of a cgroup. */
export interface Setting {
  readonly directory: string;
  readonly file: string;
  readonly value: string;
}

/** The directories of a cgroup, whether or not they exist, one for each tree. */
export const directoriesOf = (hierarchies: readonly CgroupHierarchy[], path: string): readonly string[] =>
  hierarchies.map(({ mountPoint }) => join(mountPoint, path));

/**
 * Whether the path exists. It reads synchronously, as `contentOf` does: the kernel answers both from memory, and a
 * thread pool would take many times as long. Calls that may block, such as `mkdir` and writes, go to the thread pool.
 * Errors: the path cannot be read; a pod whose cgroup counts as missing would be killed.
 */
export const isThere = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
};

/** The content of a file of a cgroup, without the white space around it. Errors: it cannot be read. */
const contentOf = (path: string): string => readFileSync(path, 'utf8').trim();

/** Makes the directory and its missing ancestors. It starts again if another process removes one of them meanwhile. */
export const makeDirectory = async (path: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await makeDirectories(path, 0o755);
      return;
    } catch (error) {
      if (attempt === 5 || codeOf(error) !== 'ENOENT') throw error;
    }
  }
};

/**
 * Writes the settings in order, then the refused ones a second time, since a setting may depend on a later one. Returns
 * one text for each setting that stays refused, with path, value and reason.
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

/**
 * Writes the value into the file. Errors: the kernel refuses the value; the file does not exist, since only the kernel
 * makes files in a cgroup.
 */
export const writeInto = async (path: string, value: string): Promise<void> => {
  const descriptor = openSync(path, 'r+');
  try {
    await writeText(descriptor, value);
  } finally {
    closeSync(descriptor);
  }
};

/** Names of the directories in a directory, as bytes: a container may give its cgroups any. None when it is missing. */
export const directoriesIn = async (path: BytePath): Promise<readonly BytePath[]> => {
  try {
    const entries = await readdir(osPath(path), { withFileTypes: true, encoding: 'latin1' });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
};

/** The processes in the cgroup and below, if the PID namespace of the agent has a number for them. */
const pidsBelow = async (directory: BytePath): Promise<readonly number[]> => {
  const own = await pidsIn(directory);
  const below = await Promise.all((await directoriesIn(directory)).map((name) => pidsBelow(join(directory, name))));
  return [...new Set([...own, ...below.flat()])];
};

const pidsIn = async (directory: BytePath): Promise<readonly number[]> => {
  try {
    return pidsInCgroup(await readFile(osPath(join(directory, 'cgroup.procs')), 'utf8'));
  } catch (error) {
    // A threaded cgroup has no processes of its own.
    if (isGone(error) || codeOf(error) === 'EOPNOTSUPP') return [];
    throw error;
  }
};

/** Kills every process in the directories and below. Errors: the agent may not kill one of them. */
export const killBelow = async (directories: readonly string[]): Promise<void> => {
  const pids = new Set((await Promise.all(directories.map((directory) => pidsBelow(bytePath(directory))))).flat());
  pids.delete(process.pid);
  for (const pid of pids) sendSignalOrThrow(pid, 'SIGKILL');
};

/** Removes the directory and everything below, deepest directories first. Errors: EBUSY while processes are in it. */
export const removeTree = (directory: string): Promise<void> => removeBelow(bytePath(directory));

const removeBelow = async (directory: BytePath): Promise<void> => {
  try {
    for (const name of await directoriesIn(directory)) await removeBelow(join(directory, name));
    await rmdir(osPath(directory));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
};

/** The directories from below `top` down to `directory`, which is the last one. */
export const levelsBetween = (top: string, directory: string): readonly string[] =>
  directory === top || directory.length <= top.length ? [] : [...levelsBetween(top, dirname(directory)), directory];

/** The content of a file; empty for a missing file. */
export const readOrEmpty = (path: string): string => {
  try {
    return contentOf(path);
  } catch (error) {
    if (isGone(error)) return '';
    throw error;
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
/** A read of a file in a cgroup that is being removed fails with ENODEV. */
const isGone = (error: unknown): boolean => ['ENOENT', 'ENODEV', 'ENOTDIR'].includes(codeOf(error) ?? '');
