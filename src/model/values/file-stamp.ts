/** The status of a file, as `fs.stat` of Node returns it with `bigint`. */
export interface FileStatus {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mode: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ctimeMs: bigint;
}

/**
 * A file whose last change is younger may change again with the same timestamps, since clocks of file systems tick
 * coarsely.
 */
const RACY_MS = 1000;

/**
 * Returns a text that changes with every write or replacement of the file. Returns undefined if a write could keep the
 * timestamps: the caller has to read the file. `now` is in Unix milliseconds. The text contains the time of the last
 * change (ctime), since a process can set the modification time back.
 */
export const fileStamp = (
  { dev, ino, size, mtimeNs, ctimeNs, ctimeMs, mode }: FileStatus,
  now: number,
): string | undefined =>
  now - Number(ctimeMs) < RACY_MS ? undefined : [dev, ino, size, mtimeNs, ctimeNs, mode].join(':');
