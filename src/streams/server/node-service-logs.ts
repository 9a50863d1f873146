import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  map,
  merge,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
  takeWhile,
  timer,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { journalctlArguments } from '../../model/server/journalctl-arguments.js';
import { placeServices, type ServiceLogQuery } from '../../model/server/node-log-query.js';
import { isAbsence } from '../../model/values/file-error.js';
import { limitByKey } from '../operators/limit-by-key.js';
import type { NodeJournal, ReadLogFile, ReadNodeLogs } from '../ports/node-journal.js';
import type { PodLogReply } from '../ports/read-pod-log.js';

export interface NodeServiceLogsOptions {
  readonly journal: NodeJournal;
  readonly files: ReadLogFile;
  readonly scheduler: SchedulerLike;
}

/** Source: pkg/kubelet/kubelet_server_journal.go Copy */
export const DEADLINE_MS = 30_000;
/** Each is a process; the kubelet has no limit. */
const LIMITS = { inAll: 5, perKey: 5 };

/**
 * Returns the reader of the logs of services: from the journal if it knows the service, else from a file of its name. A problem
 * after the start is text at the end of the output.
 *
 * Errors: none. Ends: with the output, after 30 s at the latest.
 * Source: pkg/kubelet/kubelet_server_journal.go copyForBoot
 */
export const nodeServiceLogs = ({ journal, files, scheduler }: NodeServiceLogsOptions): ReadNodeLogs => {
  const limited = limitByKey({ ...LIMITS, tooMany: () => new TooManyQueries('too many logs are read already') });

  const fileOf = (service: string, ready: () => Observable<unknown>, problem: string): Observable<Uint8Array> => {
    const tried = ([path, ...others]: readonly string[]): Observable<Uint8Array> =>
      path === undefined
        ? text(`\nlog not found for ${service}\n${problem}`)
        : files(path, ready).pipe(
            catchError((error: unknown) =>
              isAbsence(error) ? tried(others) : text(`\nerror getting log for ${service}: ${errorText(error)}\n`),
            ),
          );
    return tried([service, `${service}.log`, `${service}/${service}.log`]);
  };

  const outputOf = ({ services, options }: ServiceLogQuery, ready: () => Observable<unknown>): Observable<Uint8Array> =>
    defer(() => journal.units()).pipe(
      map((units) => ({ units, problem: '' })),
      catchError((error: unknown) =>
        of({ units: undefined, problem: `the journal is not available: ${errorText(error)}\n` }),
      ),
      switchMap(({ units, problem }) => {
        const { inJournal, inFiles } = placeServices(services, units);
        const journal$ =
          inJournal.length === 0
            ? EMPTY
            : journal
                .read(journalctlArguments({ services: inJournal, options }), ready)
                .pipe(
                  catchError((error: unknown) => text(`\nerror: journal output not available: ${errorText(error)}\n`)),
                );
        if (inFiles.length > 0 && Object.keys(options).length > 0)
          return concat(journal$, text(withOptions(inFiles, problem)));
        return concat(journal$, ...inFiles.map((service) => fileOf(service, ready, problem)));
      }),
    );

  return (query, ready) =>
    concat(
      of<PodLogReply>({ kind: 'accepted' }),
      untilDeadline(outputOf(query, ready), scheduler).pipe(map((bytes): PodLogReply => ({ kind: 'output', bytes }))),
    ).pipe(
      limited('query'),
      catchError((error: unknown): Observable<PodLogReply> =>
        of({ kind: 'refused', status: error instanceof TooManyQueries ? 429 : 500, text: `${errorText(error)}\n` }),
      ),
    );
};

class TooManyQueries extends Error {}

const withOptions = (services: readonly string[], problem: string): string =>
  `\noptions present and query resolved to log files for [${services.join(' ')}]\ntry without specifying options\n${problem}`;

const text = (words: string): Observable<Uint8Array> => of(new TextEncoder().encode(words));

/** The output, ended by a line that names the deadline if it was reached. */
const untilDeadline = (output$: Observable<Uint8Array>, scheduler: SchedulerLike): Observable<Uint8Array> =>
  merge(concat(output$, of('complete' as const)), timer(DEADLINE_MS, scheduler).pipe(map(() => 'late' as const))).pipe(
    takeWhile((part): part is Uint8Array => typeof part !== 'string', true),
    concatMap((part: Uint8Array | 'complete' | 'late') => {
      if (part === 'complete') return EMPTY;
      return part === 'late'
        ? text(`\nerror: the log was not read completely within ${DEADLINE_MS / 1_000} s\n`)
        : of(part);
    }),
  );
