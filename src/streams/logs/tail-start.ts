import { defer, EMPTY, expand, filter, map, type Observable, take } from 'rxjs';
import { isScanned, scanBlock, type TailScan } from '../../model/logs/tail-scan.js';
import type { OpenLog } from '../ports/log-reading.js';

/** The bytes of one read. */
export const LOG_BLOCK_BYTES = 64 * 1024;

/**
 * Emits the position at which the last `lineCount` whole lines of a file begin, and completes. It reads the file from its
 * end, in blocks, and no further than needed. A last line without a line break does not count.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/tail.go findTailLineStartIndex
 */
export const tailStart = (file: OpenLog, lineCount: number): Observable<number> =>
  defer(() => file.size()).pipe(
    map((size): TailScan => ({ left: size, newlines: 0 })),
    expand((scan) => (isScanned(scan) ? EMPTY : scanNext(file, scan, lineCount))),
    filter(isScanned),
    take(1),
    map(({ start, left }) => start ?? left),
  );

const scanNext = (file: OpenLog, scan: TailScan, lineCount: number): Observable<TailScan> => {
  const left = Math.max(0, scan.left - LOG_BLOCK_BYTES);
  return file.read(left, scan.left - left).pipe(map((block) => scanBlock(scan, left, block, lineCount)));
};
