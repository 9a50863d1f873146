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
import type { PodSourceName } from '../model/pod.js';
import { foldPodSet, NO_POD_CONFIG, type PodConfigUpdate } from '../model/pod-config.js';
import { type SourceEvent, sourceProblem } from '../model/pod-set.js';
import type { WallClock } from './ports.js';
import { retryWithBackoff } from './operators/retry-with-backoff.js';

/** Sources of pods by name. A source is any Observable of complete sets. */
export type PodSources = Readonly<Record<string, Observable<SourceEvent>>>;

export interface PodConfigOptions {
  /** Delay before a source that failed is subscribed to again; doubles up to `maxRetryMs`. */
  readonly retryMs?: number;
  readonly maxRetryMs?: number;
  readonly scheduler?: SchedulerLike;
  /** By which a pod is stamped when it is first seen; the scheduler's clock unless given. */
  readonly wallClock?: WallClock;
}

/**
 * Merges the sets of all sources into what changes. The updates of one set come one after the other, never mixed with those
 * of another, even if handling an update makes a source emit. The first set of a source always gives an update, if only an
 * ADD without pods: once it has been handled, the source counts as heard.
 *
 * Errors: none; a source that fails keeps its pods, is a problem, and is subscribed to again while the others go on.
 * Ends:   when every source has ended.
 * Source: pkg/kubelet/config/config.go, pkg/kubelet/config/mux.go.
 */
export const podConfig = (
  sources: PodSources,
  {
    retryMs = 1000,
    maxRetryMs = 30_000,
    scheduler = asyncScheduler,
    wallClock = () => scheduler.now(),
  }: PodConfigOptions = {},
): Observable<PodConfigUpdate> =>
  defer(() => {
    let state = NO_POD_CONFIG;
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
        const folded = foldPodSet(state, { source, pods: event.pods, seenAt: wallClock() });
        state = folded.state;
        return folded.updates;
      }),
      concatMap((updates) => from(updates)),
    );
  });

const failure = (source: PodSourceName, error: unknown): SourceEvent => {
  const reason = error instanceof Error ? error.message : String(error);
  return sourceProblem({
    severity: 'error',
    message: `pod source ${source} failed and will be tried again: ${reason}`,
  });
};
