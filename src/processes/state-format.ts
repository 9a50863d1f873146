import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The format of the files below a root or a state directory. It is raised with a change that an earlier version would misread: fields that are
 * added, and files that can be missing, are no such change.
 */
export const STATE_FORMAT = 1;

const FILE = 'format.json';

/**
 * Ensures that this version can read the files of a directory, of which nothing is changed.
 *
 * Errors: they have a later format; the message names the version that wrote them. The file with the format cannot be read.
 */
export const requireFormat = (directory: string): void => {
  const found = formatOf(directory);
  if (found === undefined || found.format <= STATE_FORMAT) return;
  throw new Error(
    `${directory} was written by rx-kubelet ${found.version} in format ${found.format}, and this version reads formats up to ${STATE_FORMAT}: run version ${found.version} or a later one, or choose another folder`,
  );
};

interface WarnLog {
  readonly warn: (fields: object, message: string) => void;
}

/** Writes the format of this version, unless it is there. A format that cannot be written, as on a full disk, is one line of the log. */
export const markFormat = (directory: string, version: string, log: WarnLog): void => {
  const path = join(directory, FILE);
  try {
    if (formatOf(directory)?.format === STATE_FORMAT) return;
    writeFileSync(`${path}.new`, `${JSON.stringify({ format: STATE_FORMAT, version })}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    log.warn({ error, file: path }, 'the format of the files could not be written');
  }
};

/** Undefined for a directory of a version that wrote no such file, or of a write that was cut off. Errors: it cannot be read. */
const formatOf = (directory: string): { readonly format: number; readonly version: string } | undefined => {
  const path = join(directory, FILE);
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  try {
    const { format, version } = (JSON.parse(text) ?? {}) as { readonly format?: unknown; readonly version?: unknown };
    return typeof format === 'number' ? { format, version: String(version) } : undefined;
  } catch {
    return undefined;
  }
};
