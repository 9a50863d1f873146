import { concat, concatMap, defer, EMPTY, ignoreElements, type Observable, of, repeat, takeWhile } from 'rxjs';
import type { LogPrinter } from '../../model/logs/log-printer.js';
import type { OpenLog } from '../ports/log-reading.js';
import { LOG_BLOCK_BYTES } from './tail-start.js';

/** A log file that is being read. */
export interface LogCursor {
  readonly file: OpenLog;
  /** The bytes up to here are printed. */
  position: number;
  readonly printer: LogPrinter;
  /** Completes when the reader can take more. */
  readonly ready: () => Observable<unknown>;
}

/** Marks the end of the file, or a limit; it is not emitted. */
const AT_END = Symbol('the file is read to its end');

/** Emits the output of the file from the position on, a block at a time, and moves the position to the end. */
export const readToEnd = (cursor: LogCursor): Observable<Uint8Array> => {
  const { file, printer, ready } = cursor;
  const block$ = defer((): Observable<Uint8Array | typeof AT_END> => {
    if (printer.isFull()) return of(AT_END);
    return file.read(cursor.position, LOG_BLOCK_BYTES).pipe(
      concatMap((bytes): Observable<Uint8Array | typeof AT_END> => {
        if (bytes.length === 0) return of(AT_END);
        cursor.position += bytes.length;
        return output(printer.print(bytes), ready);
      }),
    );
  });
  return block$.pipe(
    repeat(),
    takeWhile((bytes) => bytes !== AT_END),
  );
};

/** Emits the last line of a file, if it has no line break. */
export const readLastLine = ({ printer, ready }: LogCursor): Observable<Uint8Array> =>
  defer(() => output(printer.printRest(), ready));

const output = (bytes: Uint8Array, ready: () => Observable<unknown>): Observable<Uint8Array> =>
  bytes.length === 0 ? EMPTY : concat(of(bytes), defer(ready).pipe(ignoreElements()));
