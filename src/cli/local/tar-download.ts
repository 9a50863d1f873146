import { chmod, copyFile, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { extract, type Extract, type Header } from 'tar-stream';
import { baseName, entryPath } from '../../model/server/copy-paths.js';
import { type BytePath, bytePath, callError, osPath, shownPath } from '../../processes/byte-path.js';

export interface TarDownload {
  /** The path that was copied. */
  readonly copied: string;
  /** The path on this machine. A file goes into a folder that exists, under its own name. */
  readonly target: string;
  readonly warn: (line: string) => void;
  /** Takes a line about each file whose name is lost; the others are copied. */
  readonly fail: (line: string) => void;
}

/** Reads an archive with the bytes of its names, which need not be UTF-8. The types of the package lack the option. */
export const readArchive = (): Extract => extract({ filenameEncoding: 'latin1' } as object);

/** A file of an archive. */
type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

/**
 * Writes the entries of an archive of `readArchive`; resolves at its end. The archive comes from a container: no entry leads out of the
 * target, and symlinks are left out. Folders that are made get their modes, as files do, without those that give other rights; those of
 * folders that existed stay.
 *
 * Errors: the archive is malformed; a file cannot be written.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go untarAll
 */
export const tarDownload = async (archive: Extract, download: TarDownload): Promise<void> => {
  const { warn, fail } = download;
  const copied = bytePath(download.copied);
  let root: BytePath | undefined;
  /** The entries that are not on the disk: further names of them are not, either. */
  const skipped = new Set<BytePath>();
  const closed: ClosedFolder[] = [];
  try {
    for await (const entry of archive) {
      const { header } = entry;
      root ??= await rootOf(header, copied, bytePath(download.target));
      const name = bytesOf(header, 'path', header.name);
      const linkName = bytesOf(header, 'linkpath', header.linkname ?? '');
      const path = name === undefined ? undefined : entryPath(name, copied);
      const source = header.type === 'link' && linkName !== undefined ? entryPath(linkName, copied) : undefined;
      const skip = (line: string): void => {
        if (path !== undefined) skipped.add(path);
        warn(line);
      };
      const own = `${root}${path}`;
      if (name === undefined || linkName === undefined) {
        fail(`cannot copy ${JSON.stringify(header.name)}: the archive has a name of the format pax that is not UTF-8`);
      } else if (path === undefined) {
        warn(`warning: file ${shownPath(name)} is outside target destination, skipping`);
      } else if (header.type === 'symlink') {
        skip(`warning: skipping symlink: ${shownPath(own)} -> ${shownPath(linkName)}`);
      } else if (header.type === 'directory') closed.push(...(await makeFolder(own, header.mode ?? 0o777)));
      else if (header.type === 'link') {
        if (source === undefined) throw new Error('tar contents corrupted');
        if (skipped.has(source)) skip(`warning: skipping link: ${shownPath(own)} -> ${shownPath(`${root}${source}`)}`);
        else await copyLinked(`${root}${source}`, own);
      } else if (header.type === 'file' || header.type === 'contiguous-file') {
        await writeFile(entry, own);
        continue;
      } else skip(`warning: skipping ${shownPath(own)}, which is no file, folder or symlink`);
      entry.resume();
    }
  } finally {
    for (const folder of closed.toReversed()) await takeRights(folder);
  }
};

/** A file of the archive goes into a folder that exists. */
const rootOf = async ({ type }: Header, copied: BytePath, target: BytePath): Promise<BytePath> =>
  type !== 'directory' && (await isFolder(target)) ? `${target}/${baseName(copied)}` : target;

const REPLACED = '\uFFFD';

/** The bytes of a name; undefined if they are lost: the package decodes the names of the format pax as UTF-8 in any case. */
const bytesOf = (header: Header, field: 'path' | 'linkpath', name: string): BytePath | undefined => {
  const pax = header.pax as Readonly<Record<string, string>> | null;
  if (!pax?.[field]) return name;
  return name.includes(REPLACED) ? undefined : bytePath(name);
};

/** A folder that lacks rights of its owner, who still writes into it. */
interface ClosedFolder {
  readonly path: BytePath;
  readonly lacks: number;
}

const OWNER = 0o700;

/** Makes a folder of this mode, minus the umask. One that exists stays as it is. */
const makeFolder = async (path: BytePath, mode: number): Promise<readonly ClosedFolder[]> => {
  await makeFolders(dirname(path));
  const isMade = await makeMissing(path, (mode & 0o777) | OWNER);
  const lacks = OWNER & ~mode;
  return isMade && lacks !== 0 ? [{ path, lacks }] : [];
};

/** Makes the missing folders that the archive has no entries for. */
const makeFolders = async (path: BytePath): Promise<void> => {
  const parent = dirname(path);
  try {
    await makeMissing(path, 0o777);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolders(parent);
    await makeMissing(path, 0o777);
  }
};

/** False if the folder exists. */
const makeMissing = (path: BytePath, mode: number): Promise<boolean> =>
  naming(path, async () => {
    try {
      await mkdir(osPath(path), { mode });
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST' && (await isFolder(path))) return false;
      throw error;
    }
  });

const takeRights = ({ path, lacks }: ClosedFolder): Promise<void> =>
  naming(path, async () => {
    const { mode } = await stat(osPath(path));
    await chmod(osPath(path), mode & 0o777 & ~lacks);
  });

const writeFile = async (entry: Entry, path: BytePath): Promise<void> => {
  await makeFolders(dirname(path));
  await naming(path, async () => {
    // A stream that opens its file by itself may still make it when the copy has failed.
    const file = await open(osPath(path), 'w', (entry.header.mode ?? 0o666) & 0o777);
    try {
      // The streams of the package emit nothing for who comes later: a copy of one that has ended meanwhile would wait forever.
      if (entry.destroyed) throw new Error('the archive ended within a file');
      await pipeline(entry, file.createWriteStream());
    } finally {
      await file.close();
    }
  });
};

/** A further name of a file of the archive gets a copy. */
const copyLinked = async (source: BytePath, path: BytePath): Promise<void> => {
  await makeFolders(dirname(path));
  await naming(path, () => copyFile(osPath(source), osPath(path)));
};

const isFolder = (path: BytePath): Promise<boolean> =>
  stat(osPath(path)).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

/** Errors of calls of the file system name this path with its bytes. */
const naming = async <T>(path: BytePath, run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || code.startsWith('ERR_')) throw error;
    throw Object.assign(new Error(`${callError(error)} ${shownPath(path)}`, { cause: error }), { code });
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
