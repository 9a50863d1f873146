import { errorText } from '../../model/cri/cri-error.js';
import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  defer,
  from,
  map,
  merge,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
} from 'rxjs';
import type { PodSourceName } from '../../model/pod/pod.js';
import { foldPodSet, NO_POD_CONFIG, type PodConfigUpdate } from '../../model/config/pod-config.js';
import { type SourceEvent, sourceProblem } from '../../model/pod/pod-set.js';
import { slicePodUpdates } from '../../model/config/slice-pod-updates.js';
import type { WallClock } from '../ports/wall-clock.js';
import { inTurns } from '../operators/in-turns.js';
import { retryWithBackoff } from '../operators/retry-with-backoff.js';

/** Sources of pods by name. A source is any Observable of complete sets. */
export type PodSources = Readonly<Record<string, Observable<SourceEvent>>>;

/** The waits of a source that failed. */
export const SOURCE_BACKOFF = { initialMs: 1_000, maxMs: 30_000 };

export interface PodConfigOptions {
  /** Delay before a source that failed is subscribed to again; doubles up to `maxRetryMs`. */
  readonly retryMs?: number;
  readonly maxRetryMs?: number;
  readonly scheduler?: SchedulerLike;
  /** The clock for the time at which a pod is first seen. Default: the scheduler. */
  readonly wallClock?: WallClock;
}

/** The number of pods or problems in one turn; each may cause a start, and entries in the journal, the log and events. */
const MOST_AT_ONCE = 16;

/**
 * Merges the sets of all sources into changes. The updates of one set are emitted one after the other, never mixed with those
 * of another, even if an update makes a source emit. The first complete set of a source always gives an update, even
 * an ADD without pods: once it has been handled, the source is ready. Many changes
 * come in parts, with other work of the agent between them.
 *
 * Errors: none; a failed source keeps its pods, becomes a problem and is subscribed to again. The other sources go on.
 * Ends:   when every source has ended.
 * Source: pkg/kubelet/config/config.go, pkg/kubelet/config/mux.go.
 */
export const podConfig = (
  sources: PodSources,
  {
    retryMs = SOURCE_BACKOFF.initialMs,
    maxRetryMs = SOURCE_BACKOFF.maxMs,
    scheduler = asyncScheduler,
    wallClock = () => scheduler.now(),
  }: PodConfigOptions = {},
): Observable<PodConfigUpdate> =>
  defer(() => {
    let state = NO_POD_CONFIG;
    const inTurn = inTurns({ most: MOST_AT_ONCE, scheduler });
    const named$ = Object.entries(sources).map(([source, event$]) =>
      event$.pipe(
        catchError((error: unknown) =>
          concat(
            of(failure(source, error)),
            throwError(() => error),
          ),
        ),
        retryWithBackoff({ initialMs: retryMs, maxMs: maxRetryMs, scheduler }),
        map((event) => ({ source, event })),
      ),
    );
    return merge(...named$).pipe(
      map(({ source, event }): readonly PodConfigUpdate[] => {
        if (event.kind === 'problem') return [{ kind: 'problem', source, problem: event.problem }];
        try {
          const { pods, objects, isPartial } = event;
          const folded = foldPodSet(state, { source, pods, objects, isPartial, seenAt: wallClock() });
          state = folded.state;
          return slicePodUpdates(folded.updates, MOST_AT_ONCE);
        } catch (error) {
          // The source of a user may emit any value.
          const message = `the pods of source ${source} are not valid, so they are kept as they were: ${errorText(error)}`;
          return [{ kind: 'problem', source, problem: { severity: 'error', message } }];
        }
      }),
      concatMap((updates) => from(updates)),
      inTurn((update) => (update.kind === 'pods' ? Math.max(1, update.pods.length) : 1)),
    );
  });

const failure = (source: PodSourceName, error: unknown): SourceEvent => {
  return sourceProblem({
    severity: 'error',
    message: `pod source ${source} failed and will be tried again: ${errorText(error)}`,
  });
};
