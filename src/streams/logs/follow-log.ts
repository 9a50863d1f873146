import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  expand,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  ReplaySubject,
  type SchedulerLike,
  share,
  startWith,
  take,
  throwError,
  timer,
} from 'rxjs';
import type { LogPrinter } from '../../model/logs/log-printer.js';
import { stepAfterRead } from '../../model/logs/step-after-read.js';
import { alongside } from '../operators/alongside.js';
import type { LogReading, OpenLog } from '../ports/log-reading.js';
import { type LogCursor, readLastLine, readToEnd } from './read-to-end.js';

/** Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go logForceCheckPeriod. */
export const LOG_CHECK_MS = 1_000;

export interface FollowedLog {
  readonly path: string;
  readonly files: LogReading;
  readonly printer: LogPrinter;
  /** Completes when the reader can take more. */
  readonly ready: () => Observable<unknown>;
  /** Emits once; cancelled when the file changes meanwhile. */
  readonly isRunning: () => Observable<boolean>;
  /** Emits the position from which the first file is read. */
  readonly firstPosition: (file: OpenLog) => Observable<number>;
  readonly scheduler: SchedulerLike;
}

/** Opens the file at the path. `isFirst`: no file was open before. */
type Open = { readonly kind: 'open'; readonly isFirst: boolean };
/** Reads the open file up to its end, again. */
type Read = { readonly kind: 'read' };
/** The next round of a follower. */
type Round<Kind extends Open | Read = Open | Read> = Kind & {
  /** The container has ended before this round. */
  readonly hasEnded: boolean;
  /** The round waits for a change after this version of the file, or for the check. Absent: it begins at once. */
  readonly afterVersion?: number;
};
/** A round emits output, and last the next round, unless the log ends. */
type Output = Uint8Array | Round;

/**
 * Emits the output of a log, round by round, until the container does not run. See `containerLog`.
 *
 * Errors: there is no such file and the container does not run; the file cannot be read; those of `isRunning`.
 * Ends:   at the limit, or when the container has ended and its file is read to its end.
 */
export const followLog = ({
  path,
  files,
  printer,
  ready,
  isRunning,
  firstPosition,
  scheduler,
}: FollowedLog): Observable<Uint8Array> =>
  defer(() => {
    const version$ = versionsOf(files, path);
    const changeAfter = (version: number): Observable<number> => version$.pipe(filter((newer) => newer > version));

    /** Runs `work` when it is time for the round, with the version of the file at that time. */
    const inTime = ({ afterVersion }: Round, work: (version: number) => Observable<Output>): Observable<Output> => {
      const begin$ = version$.pipe(take(1), concatMap(work));
      if (afterVersion === undefined) return begin$;
      const turn$ = merge(changeAfter(afterVersion), timer(LOG_CHECK_MS, scheduler));
      return concat(turn$.pipe(take(1), ignoreElements()), begin$);
    };

    /** A change is an answer, too: a container that writes runs, and a runtime that hangs holds up no line. */
    const ask = (next: Open | Read, version: number): Observable<Round> =>
      merge(changeAfter(version).pipe(map(() => true)), defer(isRunning)).pipe(
        take(1),
        map((isRunning) => ({ ...next, hasEnded: !isRunning, ...(isRunning && { afterVersion: version }) })),
      );

    const withoutFile = ({ isFirst, hasEnded }: Round<Open>, version: number): Observable<Output> => {
      if (isFirst && hasEnded) return throwError(() => missingLog(path));
      // It is missing for a moment between the two steps of a rotation.
      return hasEnded ? EMPTY : ask({ kind: 'open', isFirst }, version);
    };

    const afterRead = (cursor: LogCursor, hasEnded: boolean, version: number): Observable<Output> =>
      defer(() => files.identity(path)).pipe(
        concatMap((identityAtPath) =>
          cursor.file.size().pipe(
            concatMap((size): Observable<Output> => {
              const { file, position } = cursor;
              const facts = {
                isFull: printer.isFull(),
                identity: file.identity,
                identityAtPath,
                size,
                position,
                hasEnded,
              };
              switch (stepAfterRead(facts)) {
                case 'end':
                  return EMPTY;
                case 'next-file':
                  // The runtime writes to one file only, so the earlier one is complete by now.
                  return concat(
                    readToEnd(cursor),
                    readLastLine(cursor),
                    of<Round>({ kind: 'open', isFirst: false, hasEnded }),
                  );
                case 'start-over':
                  cursor.position = 0;
                  printer.forget();
                  return of({ kind: 'read', hasEnded });
                case 'last-line':
                  return readLastLine(cursor);
                case 'ask':
                  return ask({ kind: 'read' }, version);
              }
            }),
          ),
        ),
      );

    /** Emits the output of an open file, and the round that opens the next one. */
    const readFile = (cursor: LogCursor, hasEnded: boolean): Observable<Output> =>
      of<Output>({ kind: 'read', hasEnded }).pipe(
        expand((round) =>
          isRead(round)
            ? inTime(round, (version) => concat(readToEnd(cursor), afterRead(cursor, round.hasEnded, version)))
            : EMPTY,
        ),
        filter((output) => !isRead(output)),
      );

    const openFile = (round: Round<Open>): Observable<Output> =>
      inTime(round, (version) =>
        files.open(path, (file) => {
          if (!file) return defer(() => withoutFile(round, version));
          const position$ = round.isFirst ? firstPosition(file) : of(0);
          return position$.pipe(concatMap((position) => readFile({ file, position, printer, ready }, round.hasEnded)));
        }),
      );

    return of<Output>({ kind: 'open', isFirst: true, hasEnded: false }).pipe(
      expand((round) => (isOpen(round) ? openFile(round) : EMPTY)),
      filter((output) => output instanceof Uint8Array),
      alongside(version$),
    );
  });

export const missingLog = (path: string): Error => new Error(`there is no log file ${path}`);

const isOpen = (output: Output): output is Round<Open> => 'kind' in output && output.kind === 'open';
const isRead = (output: Output): output is Round<Read> => 'kind' in output && output.kind === 'read';

/** Emits the number of changes of the file so far, at once and with each change. Without a watch there are none; the check remains. */
const versionsOf = (files: LogReading, path: string): Observable<number> =>
  concat(defer(() => files.changes(path)).pipe(catchError(() => EMPTY)), NEVER).pipe(
    map((_, index) => index + 1),
    startWith(0),
    share({ connector: () => new ReplaySubject(1) }),
  );
