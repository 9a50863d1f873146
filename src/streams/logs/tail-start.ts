import { defer, EMPTY, expand, filter, map, type Observable, take } from 'rxjs';
import type { OpenLog } from '../ports/log-reading.js';

/** The bytes of one read. */
export const LOG_BLOCK_BYTES = 64 * 1024;

const NEWLINE = 10;

/**
 * Emits the position at which the last `lineCount` whole lines of a file begin, and completes. It reads the file from its
 * end, in blocks, and no further than needed. A last line without a line break does not count.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/tail.go findTailLineStartIndex
 */
export const tailStart = (file: OpenLog, lineCount: number): Observable<number> =>
  defer(() => file.size()).pipe(
    map((size): Scan => ({ left: size, newlines: 0 })),
    expand((scan) => (isOver(scan) ? EMPTY : scanBlock(file, scan, lineCount))),
    filter(isOver),
    take(1),
    map(({ start, left }) => start ?? left),
  );

interface Scan {
  /** The position down to which the file was read. */
  readonly left: number;
  /** The number of newlines behind that position. */
  readonly newlines: number;
  /** The result, once it is known. */
  readonly start?: number;
}

const isOver = ({ left, start }: Scan): boolean => left === 0 || start !== undefined;

const scanBlock = (file: OpenLog, { left: right, newlines }: Scan, lineCount: number): Observable<Scan> => {
  const left = Math.max(0, right - LOG_BLOCK_BYTES);
  return file.read(left, right - left).pipe(
    map((block) => {
      const found = newlines + countOf(block);
      // The lines begin behind the newline that ends the line before them.
      return found > lineCount
        ? { left, newlines: found, start: left + behindNewline(block, found - lineCount) }
        : { left, newlines: found };
    }),
  );
};

const countOf = (block: Uint8Array): number => {
  let count = 0;
  for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
};

/** The position behind newline number `ordinal` of the block, from 1 on. */
const behindNewline = (block: Uint8Array, ordinal: number): number => {
  let position = 0;
  for (let passed = 0; passed < ordinal; passed += 1) position = block.indexOf(NEWLINE, position) + 1;
  return position;
};
