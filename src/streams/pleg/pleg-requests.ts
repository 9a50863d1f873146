import { defer, EMPTY, merge, type Observable, Subject, take } from 'rxjs';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { ignoreOwnEvents, type OwnEvents } from './ignore-own-events.js';
import type { ViewRequest } from './pleg.js';
import type { PodCache } from './pod-cache.js';

/** The loop between the PLEG and the workers: they request readings of their pods, and it brings them into the cache. */
export interface PlegRequests extends Pick<OwnEvents, 'hints' | 'during'> {
  /** The UIDs of the pods that a worker has changed, for a relist. */
  readonly relistRequest$: Observable<string>;
  /** The views that workers wait for. */
  readonly viewRequest$: Observable<ViewRequest>;
  /** Requests a relist of a pod that was changed. */
  readonly relistSoon: (uid: string) => void;
  /** Waits for a view of the pod that is newer than `timeMs`, and requests it unless it is there. Errors: the error of the reading. */
  readonly newerThan: (uid: string, timeMs: number) => Observable<RuntimePodStatus>;
}

export const plegRequests = (cache: Pick<PodCache, 'newerThan'>): PlegRequests => {
  const relistRequest$ = new Subject<string>();
  const viewRequest$ = new Subject<ViewRequest>();
  const { hints, during, readRequested } = ignoreOwnEvents((uid) => relistRequest$.next(uid));
  return {
    ...{ hints, during, relistRequest$, viewRequest$ },
    relistSoon: (uid) => {
      readRequested(uid);
      relistRequest$.next(uid);
    },
    newerThan: (uid, timeMs) => {
      const requested$ = defer(() => {
        viewRequest$.next({ uid, newerThan: timeMs });
        return EMPTY;
      });
      return merge(cache.newerThan(uid, timeMs), requested$).pipe(take(1));
    },
  };
};
