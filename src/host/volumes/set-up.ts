import { dirname, join } from 'node:path';
import type { VolumeMount, VolumeSetup } from '../../model/volumes/volume-setup.js';
import type { FileCalls } from './file-calls.js';
import { ifThere, unless } from './file-errors.js';
import { giveToGroup } from './give-to-group.js';
import { removeTree } from './remove-tree.js';

const DIRECTORY_MODE = 0o777;
const PARENT_MODE = 0o750;
const READY = 'ready';

/** The number by which the kernel names a type of file systems, of the type `long`. */
const MAGIC: Readonly<Record<VolumeMount['type'], number>> = { tmpfs: 0x01021994, hugetlbfs: 0x958458f6 };

/** Source: pkg/volume/emptydir/empty_dir.go SetUpAt */
export const setUp = async (calls: FileCalls, setup: VolumeSetup): Promise<'made' | 'there'> => {
  if (await isReady(calls, setup)) return 'there';
  await setUpDirectory(calls, setup);
  return 'made';
};

/** A marker counts only as long as the directory and its mount exist; both may be lost, such as by a boot. */
const isReady = async (calls: FileCalls, { directory, markerDirectory, mount }: VolumeSetup): Promise<boolean> => {
  const marker = await ifThere(calls.lstat(join(markerDirectory, READY)));
  if (marker?.isFile() !== true) return false;
  const isThere = (await ifThere(calls.lstat(directory)))?.isDirectory() === true;
  if (isThere && (!mount || (await isMounted(calls, directory, mount)))) return true;
  await removeTree(calls, markerDirectory);
  return false;
};

const setUpDirectory = async (
  calls: FileCalls,
  { directory, markerDirectory, mount, ownership }: VolumeSetup,
): Promise<void> => {
  await calls.mkdirs(dirname(directory), PARENT_MODE);
  await unless(calls.mkdir(directory, DIRECTORY_MODE), 'EEXIST');
  const stats = await calls.lstat(directory);
  if (!stats.isDirectory()) throw new Error(`${directory} is not a directory, expected the directory of a volume`);
  // The umask of the process may have removed bits.
  if ((stats.mode & DIRECTORY_MODE) !== DIRECTORY_MODE) await calls.chmod(directory, DIRECTORY_MODE);
  if (mount && !(await isMounted(calls, directory, mount))) await mountOn(calls, directory, mount);
  // The directory itself belongs to the agent; only the files in it may be read-only.
  if (ownership) await giveToGroup(calls, directory, { ...ownership, readOnly: false });
  await calls.mkdirs(markerDirectory, PARENT_MODE);
  await unless(calls.create(join(markerDirectory, READY), new Uint8Array(), 0o640), 'EEXIST');
};

/** The kernel refuses `noswap` in a user namespace. Source: pkg/kubelet/util/swap/swap_util.go */
const mountOn = async (calls: FileCalls, directory: string, { type, source, options }: VolumeMount): Promise<void> => {
  const modest = options.filter((option) => option !== 'noswap');
  try {
    await calls.mount(type, source, directory, options);
  } catch (error) {
    if (modest.length === options.length) throw error;
    await calls.mount(type, source, directory, modest);
  }
};

/** Errors: another file system is mounted there. */
const isMounted = async (calls: FileCalls, directory: string, { type }: VolumeMount): Promise<boolean> => {
  const [own, parent] = [await calls.lstat(directory), await calls.lstat(dirname(directory))];
  // A file system has a device number of its own, so its root is a mount point.
  if (own.dev === parent.dev) return false;
  if ((await calls.fileSystem(directory)).type === MAGIC[type]) return true;
  throw new Error(`${directory} is the mount point of another file system, expected ${type}`);
};
