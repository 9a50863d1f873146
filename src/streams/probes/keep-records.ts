import { defer, type Observable, retry, type SchedulerLike, tap, timer } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import type { ProbeRecord } from '../../model/probes/probe-record.js';
import { exhaustMapLatest } from '../operators/exhaust-map-latest.js';
import { settle } from '../operators/settle.js';
import type { Logger, ProbeRecords } from '../ports.js';

/** What becomes known is written down after so much quiet, and at least so often while there is none. Milliseconds. */
export const RECORDS_QUIET_MS = 100;
export const RECORDS_LONGEST_MS = 1_000;
/** From a failed attempt to write to the next. Milliseconds. */
export const RECORDS_RETRY_MS = 10_000;

/**
 * Writes down what is known whenever it has changed, the newest of it, one attempt at a time; emits nothing.
 *
 * Errors: none; a failure is said, and tried again.
 * Ends:   with `changed$`.
 */
export const keepRecords = (
  changed$: Observable<unknown>,
  current: () => readonly ProbeRecord[],
  {
    records,
    log,
    scheduler,
  }: { readonly records: ProbeRecords; readonly log: Pick<Logger, 'warn'>; readonly scheduler: SchedulerLike },
): Observable<never> =>
  defer(() => {
    let written: string | undefined;
    const write$ = defer(() => {
      const now = current();
      const text = JSON.stringify(now);
      if (text === written) return [];
      return records.write(now).pipe(tap({ complete: () => (written = text) }));
    }).pipe(
      tap({
        error: (error: unknown) =>
          log.warn({ error: errorText(error) }, 'what is known by probes cannot be written down'),
      }),
      retry({ delay: () => timer(RECORDS_RETRY_MS, scheduler) }),
    );
    return changed$.pipe(
      settle({ quietMs: RECORDS_QUIET_MS, longestMs: RECORDS_LONGEST_MS, scheduler }),
      exhaustMapLatest(() => write$),
    );
  });
