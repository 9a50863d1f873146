import { catchError, defer, forkJoin, map, type Observable, of, share } from 'rxjs';
import { errorText, isCriError } from '../../model/cri/cri-error.js';
import type { MachineFacts } from '../../model/node/machine-facts.js';
import { runtimeMetrics } from '../../model/stats/runtime-metrics.js';
import type { Logger } from '../ports/logger.js';
import type { RuntimeSample } from '../ports/node-stats.js';
import type { RuntimeStats } from '../ports/runtime-stats.js';
import type { UsageReader } from '../ports/usage-reader.js';
import { logNewProblems } from './log-new-problems.js';

export interface RuntimeSampleOptions {
  /** Undefined while there is no connection. */
  readonly stats: () => RuntimeStats | undefined;
  readonly reader: Pick<UsageReader, 'machine'>;
  /** Emits undefined for a machine that cannot be read. */
  readonly facts$: Observable<MachineFacts | undefined>;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Asks the runtime for its metrics and their descriptors, which an update of the runtime may change.
 *
 * Errors: none; a failed call is one of the `problems`.
 * Ends:   after one sample, which is undefined for a runtime that does not implement the calls.
 */
export const runtimeSample = ({
  stats,
  reader,
  facts$,
  log,
}: RuntimeSampleOptions): Observable<RuntimeSample | undefined> => {
  const metrics$ = defer(() => {
    const calls = stats();
    if (!calls) return of({ families: [], problems: ['the runtime is not connected yet'] });
    return forkJoin([calls.listMetricDescriptors({}), calls.listPodSandboxMetrics({})]).pipe(
      map(([{ descriptors }, { podMetrics }]) => runtimeMetrics(descriptors, podMetrics)),
      catchError((error: unknown) =>
        of(
          isCriError(error, 'unimplemented')
            ? undefined
            : { families: [], problems: [`metrics of the runtime: ${errorText(error)}`] },
        ),
      ),
    );
  });
  return forkJoin([metrics$, reader.machine(), facts$]).pipe(
    map(
      ([metrics, { processors, devices }, facts]) =>
        metrics && { ...metrics, ...(facts && { machine: { facts, ...processors, devices } }) },
    ),
    logNewProblems(log),
    share(),
  );
};
