import { defer, from, map, merge, type Observable, queueScheduler, subscribeOn } from 'rxjs';
import type { PodChange } from '../../model/pod-status/pod-change.js';
import type { KubeletState } from './kubelet-state.js';

/**
 * Emits the changes of single pods, beginning with one `added` for each pod that is there. Within one pod the order is that of the changes:
 * `before` of each is the `pod` of the one before it. A subscriber that causes a change has this change after the one that it reacts to.
 *
 * Errors: none.
 * Ends:   never.
 */
export const podChanges = ({
  pods,
  pod,
  podChange$,
}: Pick<KubeletState, 'pods' | 'pod' | 'podChange$'>): Observable<PodChange> =>
  defer(() => {
    const there$ = defer(() => from(pods.pods())).pipe(
      map(({ metadata }): PodChange => ({ kind: 'added', pod: pod(metadata.uid)! })),
    );
    return merge(podChange$, there$);
  }).pipe(
    // Behind the changes that are made already and not emitted yet: the pods have them in them.
    subscribeOn(queueScheduler),
  );
