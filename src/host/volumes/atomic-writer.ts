import type { Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import { ancestorsOf, cleanPayload } from '../../model/volumes/payload-path.js';
import type { VolumeFile, VolumePayload } from '../../model/volumes/volume-payload.js';
import type { VolumeOwnership } from '../../model/volumes/volume-setup.js';
import type { FileCalls } from './file-calls.js';
import { hasCode, ifThere, unless } from './file-errors.js';
import { giveToGroup } from './give-to-group.js';
import { removeTree } from './remove-tree.js';

/** The link to the directory of the present files. */
const DATA = '..data';
const NEW_DATA = '..data_tmp';
/** A directory of files is named for the time of its making. */
const DATED = /^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+$/;
const DATED_MODE = 0o755;

export interface WriterFacts {
  readonly calls: FileCalls;
  /** In Unix milliseconds. */
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * Writes the files into a new directory, then renames a link to it over `..data`. Users see links to files below
 * `..data`. Every call removes the remains of a call that did not end, so that the last complete call determines the
 * content. Another file in the place of such a link goes, such as the directory of a sub-path that was missing; only the
 * `mountPoints` of containers stay, relative to the directory.
 *
 * Errors: an invalid path. Until the rename, the old files stay.
 * Source: pkg/volume/util/atomic_writer.go
 */
export const writeAtomically = async (
  facts: WriterFacts,
  directory: string,
  payload: VolumePayload,
  ownership?: VolumeOwnership,
  mountPoints: readonly string[] = [],
): Promise<'changed' | 'unchanged'> => {
  const { calls } = facts;
  const files = cleanPayload(payload);
  const before = await presentDirectory(calls, directory);
  const isSwitched = before === undefined || !(await hasFiles(calls, join(directory, before), files));
  const present = isSwitched ? await switchTo(facts, directory, files, ownership) : before;
  const entries = await calls.entries(directory);
  const isLinked = await makeLinks(calls, directory, files, entries, new Set(mountPoints.map(topName)));
  const isPruned = await prune(calls, directory, files, entries, present);
  return isSwitched || isLinked || isPruned ? 'changed' : 'unchanged';
};

/** The name of the directory behind `..data`; undefined before the first write. */
const presentDirectory = async (calls: FileCalls, directory: string): Promise<string | undefined> => {
  const link = join(directory, DATA);
  try {
    const target = await calls.readLink(link);
    return DATED.test(target) ? target : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'EINVAL')) throw new Error(`${link} is not a symbolic link, expected that of the volume`);
    throw error;
  }
};

/** Whether the directory has these files with this content, and nothing else. Modes do not count. */
const hasFiles = async (calls: FileCalls, dated: string, files: VolumePayload): Promise<boolean> => {
  const directories = new Set([...files.keys()].flatMap(ancestorsOf));
  for (const { path, kind } of await entriesBelow(calls, dated)) {
    if (kind === 'other' || !(kind === 'file' ? files : directories).has(path)) return false;
  }
  for (const [path, { data }] of files) {
    const content = await unless(calls.read(join(dated, path)), 'ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP');
    if (content === undefined || !content.equals(data)) return false;
  }
  return true;
};

interface Entry {
  /** Relative to the root of the search. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'other';
}

const entriesBelow = async (calls: FileCalls, root: string, below = ''): Promise<readonly Entry[]> => {
  const entries: Entry[] = [];
  for (const entry of (await ifThere(calls.entries(join(root, below)))) ?? []) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other';
    entries.push({ path, kind });
    if (kind === 'directory') entries.push(...(await entriesBelow(calls, root, path)));
  }
  return entries;
};

/** Returns the name of the new directory. After an error before the rename, the new directory is removed. */
const switchTo = async (
  facts: WriterFacts,
  directory: string,
  files: VolumePayload,
  ownership: VolumeOwnership | undefined,
): Promise<string> => {
  const { calls } = facts;
  const name = await makeDated(facts, directory);
  try {
    for (const [path, file] of files) {
      if (path.includes('/')) await calls.mkdirs(join(directory, name, dirname(path)), 0o777);
      await writeFile(calls, join(directory, name, path), file);
    }
    if (ownership) await giveToGroup(calls, directory, ownership);
    await unless(calls.unlink(join(directory, NEW_DATA)), 'ENOENT');
    await calls.symlink(name, join(directory, NEW_DATA));
    await calls.rename(join(directory, NEW_DATA), join(directory, DATA));
  } catch (error) {
    // The first error counts.
    await unless(calls.unlink(join(directory, NEW_DATA)), 'ENOENT').catch(() => undefined);
    await removeTree(calls, join(directory, name)).catch(() => undefined);
    throw error;
  }
  return name;
};

const makeDated = async ({ calls, now, random }: WriterFacts, directory: string): Promise<string> => {
  for (;;) {
    const time = new Date(now()).toISOString().slice(0, 19).replace(/[-T:]/g, '_');
    const name = `..${time}.${Math.floor(random() * 2 ** 32)}`;
    try {
      await calls.mkdir(join(directory, name), DATED_MODE);
    } catch (error) {
      if (hasCode(error, 'EEXIST')) continue;
      throw error;
    }
    await calls.chmod(join(directory, name), DATED_MODE);
    return name;
  }
};

const writeFile = async (calls: FileCalls, path: string, { data, mode, user }: VolumeFile): Promise<void> => {
  await calls.create(path, data, mode);
  // The umask of the process may have removed bits.
  await calls.chmod(path, mode);
  if (user !== undefined) await calls.chown(path, user, -1);
};

/** Makes the links of users that are missing; returns whether there were any. */
const makeLinks = async (
  calls: FileCalls,
  directory: string,
  files: VolumePayload,
  entries: readonly Dirent[],
  mountPoints: ReadonlySet<string>,
): Promise<boolean> => {
  const present = new Map(entries.map((entry) => [entry.name, entry]));
  let isChanged = false;
  for (const [name, user] of topNames(files)) {
    const before = present.get(name);
    if (before?.isSymbolicLink() === true || mountPoints.has(name)) continue;
    const path = join(directory, name);
    // A directory whose sub-path a container mounts can be removed: the mount keeps it.
    if (before) await (before.isDirectory() ? removeTree(calls, path) : unless(calls.unlink(path), 'ENOENT'));
    await calls.symlink(`${DATA}/${name}`, path);
    if (user !== undefined) await calls.chown(path, user, -1);
    isChanged = true;
  }
  return isChanged;
};

/** The first names of all paths, with the user of the files. */
const topNames = (files: VolumePayload): ReadonlyMap<string, number | undefined> =>
  new Map([...files].map(([path, { user }]) => [topName(path), user]));

const topName = (path: string): string => path.split('/')[0]!;

/** Removes links to files that are gone, and directories of earlier files; returns whether a link was removed. */
const prune = async (
  calls: FileCalls,
  directory: string,
  files: VolumePayload,
  entries: readonly Dirent[],
  present: string,
): Promise<boolean> => {
  const wanted = topNames(files);
  let isChanged = false;
  for (const { name } of entries) {
    const path = join(directory, name);
    if (name === NEW_DATA) await calls.unlink(path);
    else if (DATED.test(name)) {
      if (name !== present) await removeTree(calls, path);
    } else if (name !== DATA && !wanted.has(name) && (await isLinkTo(calls, path, `${DATA}/${name}`))) {
      await calls.unlink(path);
      isChanged = true;
    }
  }
  return isChanged;
};

/** Users see a link to `..data/<name>`; nothing else is the agent's. */
const isLinkTo = async (calls: FileCalls, path: string, target: string): Promise<boolean> =>
  (await unless(calls.readLink(path), 'EINVAL', 'ENOENT')) === target;
