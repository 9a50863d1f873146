import {
  catchError,
  defaultIfEmpty,
  defer,
  filter,
  forkJoin,
  map,
  merge,
  type Observable,
  of,
  switchMap,
  take,
} from 'rxjs';
import type { AssembledPleg } from '../pleg/assemble-pleg.js';
import type { PodCache } from '../pleg/pod-cache.js';
import type { KubeletState } from './kubelet-state.js';

/**
 * Emits once every source has delivered its first set, the runtime has been listed, and each listed pod has been read, and completes. Before
 * that, an absent pod may be wanted, and a pod without a container may run one.
 *
 * Errors: none; a pod that cannot be read counts as read.
 */
export const whenKnown = (
  { sources, state$ }: Pick<KubeletState, 'sources' | 'state$'>,
  { hasListed, listedPods, relist$ }: Pick<AssembledPleg, 'hasListed' | 'listedPods' | 'relist$'>,
  cache: Pick<PodCache, 'newerThan'>,
): Observable<void> =>
  defer(() =>
    merge(state$, relist$).pipe(
      filter(() => sources.all && hasListed()),
      take(1),
      switchMap(() => forkJoin(listedPods().map(({ uid }) => anyReading(cache, uid)))),
      defaultIfEmpty([]),
      map(() => undefined),
    ),
  );

/** Emits when the pod has been read at all. */
const anyReading = (cache: Pick<PodCache, 'newerThan'>, uid: string): Observable<unknown> =>
  cache.newerThan(uid, -Infinity).pipe(catchError(() => of(undefined)));
