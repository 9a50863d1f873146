import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  race,
  repeat,
  type SchedulerLike,
  Subject,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { type LogPrinter, logPrinter, type LogPrintOptions } from '../../model/logs/log-printer.js';
import { alongside } from '../operators/alongside.js';
import { repeatWhile } from '../operators/repeat-while.js';
import type { LogReading, OpenLog } from '../ports/log-reading.js';
import { LOG_BLOCK_BYTES, tailStart } from './tail-start.js';

/** Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go logForceCheckPeriod. */
export const LOG_CHECK_MS = 1_000;

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
    const limit = follow === undefined && tailLines !== undefined ? { maxLines: tailLines } : {};
    const printer = logPrinter({ ...print, ...limit });
    const change = changesOf(files, path, scheduler);
    let isFirst = true;
    let hasEnded = false;
    let next: Next = 'end';

    const firstPosition = (file: OpenLog): Observable<number> =>
      isFirst && tailLines !== undefined ? tailStart(file, tailLines) : of(0);

    /** A change answers it, too: a container that writes runs, and a runtime that hangs holds up no line. */
    const askUnlessChanged = (isRunning: () => Observable<boolean>): Observable<never> => {
      next = 'now';
      if (change.isPending()) return EMPTY;
      return race(defer(isRunning), change.next$.pipe(map(() => true))).pipe(
        take(1),
        tap((isRunning) => {
          hasEnded = !isRunning;
          next = isRunning ? 'wait' : 'now';
        }),
        ignoreElements(),
      );
    };

    const withoutFile = (): Observable<never> => {
      next = 'end';
      const missing$ = throwError(() => new Error(`there is no log file ${path}`));
      if (!follow || (isFirst && hasEnded)) return missing$;
      // It is missing for a moment between the two steps of a rotation.
      return hasEnded ? EMPTY : askUnlessChanged(follow.isRunning);
    };

    const readFile = (file: OpenLog, position: number): Observable<Uint8Array> => {
      isFirst = false;
      const reading = { file, position, printer, ready };
      const rest$ = defer(() => output(printer.printRest(), ready));
      if (!follow) {
        next = 'end';
        return concat(toEnd(reading), rest$);
      }
      let isSame = true;
      const afterEnd = (identity: string | undefined, size: number): Observable<Uint8Array> => {
        if (printer.isFull()) return EMPTY;
        if (identity !== undefined && identity !== file.identity) {
          isSame = false;
          next = 'now';
          // The runtime writes to one file only, so the earlier one is complete by now.
          return concat(toEnd(reading), rest$);
        }
        if (size < reading.position) {
          reading.position = 0;
          printer.forget();
          next = 'now';
          return EMPTY;
        }
        if (hasEnded) return rest$;
        return askUnlessChanged(follow.isRunning);
      };
      const round$ = defer(() => {
        next = 'end';
        change.reset();
        return concat(
          toEnd(reading),
          defer(() => files.identity(path)).pipe(
            concatMap((identity) => file.size().pipe(concatMap((size) => afterEnd(identity, size)))),
          ),
        );
      });
      return round$.pipe(repeat({ delay: () => (isSame ? until(next, change) : EMPTY) }));
    };

    return defer(() => {
      change.reset();
      return files.open(path, (file) =>
        file ? firstPosition(file).pipe(concatMap((position) => readFile(file, position))) : defer(withoutFile),
      );
    }).pipe(repeat({ delay: () => until(next, change) }), follow ? alongside(change.watch$) : (log$) => log$);
  });

/** The step after the end of a round, or of a file. */
type Next = 'end' | 'now' | 'wait';

/** Emits when it is time for the next round, or completes without one. */
const until = (next: Next, change: Changes): Observable<unknown> =>
  next === 'end' ? EMPTY : next === 'now' ? of(true) : change.orCheck$;

interface Changes {
  /** Keeps the watch. */
  readonly watch$: Observable<never>;
  readonly next$: Observable<unknown>;
  /** Emits at once after a change since `reset`, else with the next change, or after a second. */
  readonly orCheck$: Observable<unknown>;
  /** Whether there was a change since `reset`. */
  readonly isPending: () => boolean;
  readonly reset: () => void;
}

const changesOf = (files: LogReading, path: string, scheduler: SchedulerLike): Changes => {
  const change$ = new Subject<void>();
  let isPending = false;
  return {
    // Without a watch the check remains.
    watch$: defer(() => files.changes(path)).pipe(
      catchError(() => EMPTY),
      tap(() => {
        isPending = true;
        change$.next();
      }),
      ignoreElements(),
    ),
    next$: change$.asObservable(),
    orCheck$: defer(() => (isPending ? of(true) : merge(change$, timer(LOG_CHECK_MS, scheduler)).pipe(take(1)))),
    isPending: () => isPending,
    reset: () => (isPending = false),
  };
};

interface Reading {
  readonly file: OpenLog;
  position: number;
  readonly printer: LogPrinter;
  readonly ready: () => Observable<unknown>;
}

/** Emits the output of the file from the position on, and moves the position to its end. */
const toEnd = (reading: Reading): Observable<Uint8Array> =>
  defer(() => {
    const { file, printer, ready } = reading;
    let isAtEnd = printer.isFull();
    return defer(() => (isAtEnd ? EMPTY : file.read(reading.position, LOG_BLOCK_BYTES))).pipe(
      concatMap((bytes) => {
        reading.position += bytes.length;
        isAtEnd = bytes.length === 0;
        return output(printer.print(bytes), ready);
      }),
      repeatWhile(() => !isAtEnd && !printer.isFull()),
    );
  });

const output = (bytes: Uint8Array, ready: () => Observable<unknown>): Observable<Uint8Array> =>
  bytes.length === 0 ? EMPTY : concat(of(bytes), defer(ready).pipe(ignoreElements()));
