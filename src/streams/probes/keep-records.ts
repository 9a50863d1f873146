import { defer, type Observable, retry, type SchedulerLike, tap, timer } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { ProbeRecord } from '../../model/probes/probe-record.js';
import { exhaustMapLatest } from '../operators/exhaust-map-latest.js';
import { debounceAtMost } from '../operators/debounce-at-most.js';
import type { Logger } from '../ports/logger.js';
import type { ProbeRecords } from '../ports/probe-records.js';

/** Changes are written after a pause of `RECORDS_QUIET_MS`, and every `RECORDS_LONGEST_MS` without a pause. Milliseconds. */
export const RECORDS_QUIET_MS = 100;
export const RECORDS_LONGEST_MS = 1_000;
/** The time from a failed write to the next, in milliseconds. */
export const RECORDS_RETRY_MS = 10_000;

/**
 * Writes the newest records after changes, one write at a time; emits nothing.
 *
 * Errors: none; failures are logged and retried.
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
        error: (error: unknown) => log.warn({ error: errorText(error) }, 'cannot write the results of probes'),
      }),
      retry({ delay: () => timer(RECORDS_RETRY_MS, scheduler) }),
    );
    return changed$.pipe(
      debounceAtMost({ quietMs: RECORDS_QUIET_MS, longestMs: RECORDS_LONGEST_MS, scheduler }),
      exhaustMapLatest(() => write$),
    );
  });
