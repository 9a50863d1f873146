import { filter, map, type Observable } from 'rxjs';
import { type NodeState, podWithStatus } from '../../model/node-state/node-state.js';
import type { StateChange } from '../../model/node-state/state-change.js';
import { type PodChange, podChange } from '../../model/pod-status/pod-change.js';
import { startWithPresent } from '../operators/start-with-present.js';
import type { KubeletState, Transition } from './kubelet-state.js';

/**
 * Emits the changes of single pods, beginning with one `added` for each pod that is there. Within one pod the order is that of the changes:
 * `before` of each is the `pod` of the one before it. A subscriber that causes a change has this change after the one that it reacts to.
 *
 * Errors: none.
 * Ends:   never.
 */
export const podChanges = (state: Pick<KubeletState, 'value' | 'transition$'>): Observable<PodChange> =>
  state.transition$.pipe(
    map(changeOfPod),
    filter((change) => change !== undefined),
    startWithPresent(() => addedPods(state.value)),
  );

const addedPods = (state: NodeState): readonly PodChange[] =>
  [...state.wanted.pods.byUid.keys()].map((uid) => ({ kind: 'added', pod: podWithStatus(state, uid)! }));

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
    case 'allocation-found':
    case 'resize-allocated':
      return change.uid;
    default:
      return undefined;
  }
};
