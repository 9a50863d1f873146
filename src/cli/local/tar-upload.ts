import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { type BytePath, bytePath, callError, osPath, shownPath } from '../../processes/byte-path.js';
import { TAR_END, tarHeader, type TarHeader, tarPadding } from './tar-header.js';

export interface TarUpload {
  /** A path of this machine. */
  readonly path: string;
  /** The beginning of the names of all entries. */
  readonly name: string;
  /**
   * The folders that are entries: their modes become those here. An empty folder always is one; `inner` leaves out the copied folder
   * itself, whose content goes into one that exists.
   */
  readonly folders: 'all' | 'inner' | 'empty';
  /** Takes the lines about files of other kinds. */
  readonly warn: (line: string) => void;
  /** Takes a line about each file that cannot be copied; the others are. */
  readonly fail: (line: string) => void;
}

/**
 * Makes an archive of a file or folder, which ends. It reads as fast as its reader.
 *
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go makeTar, which has entries for empty folders only
 */
export const tarUpload = (upload: TarUpload): Readable => Readable.from(archiveOf(upload), { objectMode: false });

interface Source {
  readonly path: BytePath;
  readonly name: BytePath;
}

async function* archiveOf(upload: TarUpload): AsyncGenerator<Buffer> {
  const top = { path: bytePath(upload.path), name: bytePath(upload.name) };
  yield* entriesOf(top, upload, upload.folders === 'all');
  yield TAR_END;
}

async function* entriesOf(source: Source, upload: TarUpload, isEntry: boolean): AsyncGenerator<Buffer> {
  const { path, name } = source;
  try {
    const stats = await lstat(osPath(path));
    if (stats.isDirectory()) {
      const names = await readdir(osPath(path), { encoding: 'buffer' });
      const children = names.map((child) => child.toString('latin1')).toSorted();
      if (isEntry || children.length === 0) yield tarHeader({ ...factsOf(stats), name, type: 'directory' });
      for (const child of children) {
        const below = { path: `${path}/${child}`, name: `${name}/${child}` };
        yield* entriesOf(below, upload, upload.folders !== 'empty');
      }
    } else if (stats.isSymbolicLink()) {
      const linkName = (await readlink(osPath(path), { encoding: 'buffer' })).toString('latin1');
      yield tarHeader({ ...factsOf(stats), name, linkName, type: 'symlink' });
    } else if (stats.isFile()) yield* fileOf(source, upload);
    else upload.warn(`warning: skipping ${shownPath(path)}, which is no file, folder or symlink`);
  } catch (error) {
    upload.fail(`cannot copy ${shownPath(path)}: ${callError(error)}`);
  }
}

/** The file may have become a link or a pipe meanwhile, whose opening could wait forever. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CHUNK_BYTES = 2 ** 18;
/** The limit of a file that has content and no size, as those of /proc. */
const UNSIZED_MAX_BYTES = 2 ** 26;

/**
 * The entry of a file. A size comes before its content, and both may change meanwhile: a small file, or one that has no size, is read
 * first; a large one that grows is cut at its size, and one that shrinks is filled with zeros, as `tar` does.
 */
async function* fileOf({ path, name }: Source, { fail }: TarUpload): AsyncGenerator<Buffer> {
  const file = await open(osPath(path), OPEN_FLAGS);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('it is no longer a file');
    const start = await readUpTo(file, stats.size === 0 ? UNSIZED_MAX_BYTES + 1 : Math.min(stats.size, CHUNK_BYTES));
    if (start.length > UNSIZED_MAX_BYTES) {
      throw new Error(`it has no size, and more than ${UNSIZED_MAX_BYTES} bytes (expected at most these)`);
    }
    const isWhole = stats.size <= CHUNK_BYTES || start.length < CHUNK_BYTES;
    const size = isWhole ? start.length : stats.size;
    yield tarHeader({ ...factsOf(stats), name, type: 'file', size });
    if (start.length > 0) yield start;
    let left = size - start.length;
    const problem = (why: string): void => {
      fail(`cannot copy ${shownPath(path)}: ${why}; its copy ends with ${left} zeros`);
    };
    while (left > 0) {
      const piece = await readUpTo(file, Math.min(left, CHUNK_BYTES)).catch((error: unknown) => {
        problem(callError(error));
        return undefined;
      });
      if (piece?.length === 0) problem('it became shorter during the copy');
      if (!piece || piece.length === 0) break;
      yield piece;
      left -= piece.length;
    }
    for (; left > 0; left -= CHUNK_BYTES) yield Buffer.alloc(Math.min(left, CHUNK_BYTES));
    if (size % 512 > 0) yield tarPadding(size);
  } finally {
    await file.close();
  }
}

/** The next bytes of a file; less only at its end. */
const readUpTo = async (file: FileHandle, length: number): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for (let missing = length; missing > 0;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(missing, CHUNK_BYTES)));
    if (bytesRead === 0) break;
    pieces.push(buffer.subarray(0, bytesRead));
    missing -= bytesRead;
  }
  return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
};

const factsOf = ({ mode, uid, gid, mtimeMs }: Stats): Omit<TarHeader, 'name' | 'type'> => ({
  ...{ mode, uid, gid, mtimeMs },
  size: 0,
});
