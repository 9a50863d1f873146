import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  from,
  ignoreElements,
  map,
  type Observable,
  pairwise,
  type SchedulerLike,
  tap,
  timer,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { oomKills, systemOomMessage } from '../../model/node/system-oom.js';
import type { Logger } from '../ports/logger.js';
import type { OomLog } from '../ports/oom-log.js';
import type { RecordEvent } from '../ports/record-event.js';

/** The time between two looks at the number of kills, in milliseconds. */
export const OOM_PERIOD_MS = 10_000;

export interface OomWatcherOptions {
  /** Without it nothing is reported. */
  readonly oomLog?: OomLog;
  readonly recordEvent: RecordEvent;
  readonly log: Pick<Logger, 'warn'>;
  readonly scheduler: SchedulerLike;
}

/**
 * Records an event about the Node for each process that the kernel ends because the memory of the machine runs out. The end of a container at
 * its own limit is no such event: the status of its pod shows it. Every 10 s the number of kills is read, and the log of the kernel only if
 * it has risen. Emits nothing.
 *
 * A kubelet follows the log all the time, and does not start without it.
 *
 * Errors: none; what cannot be read is logged.
 * Ends:   never, or once the number of kills cannot be read.
 * Source: pkg/kubelet/oom/oom_watcher_linux.go Start
 */
export const oomWatcher = ({ oomLog, recordEvent, log, scheduler }: OomWatcherOptions): Observable<never> => {
  if (!oomLog) return EMPTY;
  const warn =
    (text: string) =>
    (error: unknown): Observable<never> => {
      log.warn({ error: errorText(error) }, text);
      return EMPTY;
    };
  const newest = (count: number): Observable<never> =>
    defer(oomLog.records).pipe(
      map((records) => oomKills(records).slice(-count)),
      concatMap((kills) => from(kills.filter(({ isOfSystem }) => isOfSystem))),
      tap((kill) => recordEvent({ type: 'Warning', reason: 'SystemOOM', message: systemOomMessage(kill), causes: [] })),
      ignoreElements(),
      catchError(warn('the log of the kernel cannot be read: who ran out of memory is not reported')),
    );
  return timer(0, OOM_PERIOD_MS, scheduler).pipe(
    exhaustMap(() => defer(oomLog.kills)),
    catchError(warn('the kernel does not say how often memory ran out: that is not reported')),
    pairwise(),
    concatMap(([before, after]) => (after > before ? newest(after - before) : EMPTY)),
  );
};
