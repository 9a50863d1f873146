import { defer, filter, from, map, merge, type Observable, queueScheduler, subscribeOn } from 'rxjs';
import { podWithStatus } from '../../model/node-state/node-state.js';
import type { StateChange } from '../../model/node-state/state-change.js';
import { type PodChange, podChange } from '../../model/pod-status/pod-change.js';
import type { KubeletState, Transition } from './kubelet-state.js';

/**
 * Emits the changes of single pods, beginning with one `added` for each pod that is there. Within one pod the order is that of the changes:
 * `before` of each is the `pod` of the one before it. A subscriber that causes a change has this change after the one that it reacts to.
 *
 * Errors: none.
 * Ends:   never.
 */
export const podChanges = (state: Pick<KubeletState, 'value' | 'transition$'>): Observable<PodChange> =>
  defer(() => {
    const changed$ = state.transition$.pipe(
      map(changeOfPod),
      filter((change) => change !== undefined),
    );
    const there$ = defer(() => {
      const { value } = state;
      return from(value.wanted.pods.byUid.keys()).pipe(
        map((uid): PodChange => ({ kind: 'added', pod: podWithStatus(value, uid)! })),
      );
    });
    return merge(changed$, there$);
  }).pipe(
    // Behind the changes that are made already and not emitted yet: the pods have them in them.
    subscribeOn(queueScheduler),
  );

const changeOfPod = ({ change, before, after }: Transition): PodChange | undefined => {
  const uid = changedPod(change);
  return uid === undefined ? undefined : podChange(podWithStatus(before, uid), podWithStatus(after, uid));
};

/** The pod whose wanted form or status a change may replace. */
const changedPod = (change: StateChange): string | undefined => {
  switch (change.kind) {
    case 'pod-set':
    case 'pod-removed':
      return change.pod.metadata.uid;
    case 'status':
    case 'status-forgotten':
    case 'pod-started-over':
      return change.uid;
    default:
      return undefined;
  }
};
