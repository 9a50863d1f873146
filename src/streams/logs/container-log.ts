import {
  asyncScheduler,
  concat,
  concatMap,
  defer,
  EMPTY,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
} from 'rxjs';
import { logPrinter, type LogPrintOptions } from '../../model/logs/log-printer.js';
import type { LogReading, OpenLog } from '../ports/log-reading.js';
import { followLog, missingLog } from './follow-log.js';
import { type LogCursor, readLastLine, readToEnd } from './read-to-end.js';
import { tailStart } from './tail-start.js';

export interface ContainerLogOptions {
  readonly path: string;
  readonly files: LogReading;
  readonly print: Omit<LogPrintOptions, 'maxLines'>;
  /** The last lines of the file only; 0 for none of the written ones. */
  readonly tailLines?: number;
  /** Goes on with new lines until the container does not run. Absent: ends at the end of the file. */
  readonly follow?: {
    /** Emits once; the call is cancelled when the file changes meanwhile. */
    readonly isRunning: () => Observable<boolean>;
  };
  /** Completes when the reader can take more: the next block of the file is read then. Default: at once. */
  readonly ready?: () => Observable<unknown>;
  readonly scheduler?: SchedulerLike;
}

/**
 * Emits the log of a container as bytes, at most a block of the file at a time. A log that is followed goes on after a
 * rotation with the file that took the place of the earlier one, once that is read to its end, and after a truncation from
 * the beginning. It is read again when the watch reports a change, and after a second without one.
 *
 * Errors: there is no such file and none can come; the file cannot be read or is in no known format; those of `isRunning`.
 * Ends:   at the end of the file or at the limit; if followed, when the container has ended and its file is read to its end.
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go ReadLogs, waitLogs
 */
export const containerLog = ({
  path,
  files,
  print,
  tailLines,
  follow,
  ready = () => EMPTY,
  scheduler = asyncScheduler,
}: ContainerLogOptions): Observable<Uint8Array> =>
  defer(() => {
    const firstPosition = (file: OpenLog): Observable<number> =>
      tailLines === undefined ? of(0) : tailStart(file, tailLines);
    if (follow) {
      const printer = logPrinter(print);
      return followLog({ ...{ path, files, printer, ready, scheduler, firstPosition }, isRunning: follow.isRunning });
    }
    const printer = logPrinter({ ...print, ...(tailLines !== undefined && { maxLines: tailLines }) });
    return files.open(path, (file) => {
      if (!file) return throwError(() => missingLog(path));
      return firstPosition(file).pipe(
        concatMap((position) => {
          const cursor: LogCursor = { file, position, printer, ready };
          return concat(readToEnd(cursor), readLastLine(cursor));
        }),
      );
    });
  });
