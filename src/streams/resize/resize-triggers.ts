import {
  auditTime,
  connect,
  defer,
  filter,
  map,
  merge,
  type Observable,
  repeat,
  type SchedulerLike,
  startWith,
  switchMap,
  timer,
} from 'rxjs';
import { isTerminalPhase } from '../../model/pod/pod.js';
import { isResized } from '../../model/pod/allocated-resources.js';
import type { KubeletState, Transition } from '../sync-loop/kubelet-state.js';

/** The time until the resizes that wait are tried again, and the same until every source has named its pods. Milliseconds. */
export const RESIZE_RETRY_MS = 180_000;
export const RESIZE_RETRY_UNREADY_MS = 30_000;

/** Why resizes are tried, in upstream's words. */
export type ResizeTrigger =
  'pod_updated' | 'pods_added' | 'pods_removed' | 'pod_terminated' | 'pod_resized' | 'periodic_retry';

/**
 * Emits when the resizes that wait are due: a pod asks for other amounts, or another one has made room, and a while after the last time. Changes
 * of one instant are one trigger, which comes a hop of the scheduler after them.
 *
 * Errors: none.
 * Ends:   never.
 * Source: pkg/kubelet/allocation/allocation_manager.go
 */
export const resizeTriggers = (
  state: Pick<KubeletState, 'transition$' | 'sources'>,
  scheduler: SchedulerLike,
): Observable<ResizeTrigger> => {
  const retry$ = defer(() => timer(state.sources.all ? RESIZE_RETRY_MS : RESIZE_RETRY_UNREADY_MS, scheduler)).pipe(
    map((): ResizeTrigger => 'periodic_retry'),
    repeat(),
  );
  return state.transition$.pipe(
    map(triggerOf),
    filter((trigger) => trigger !== undefined),
    auditTime(0, scheduler),
    connect((change$) =>
      merge(
        change$,
        change$.pipe(
          startWith(undefined),
          switchMap(() => retry$),
        ),
      ),
    ),
  );
};

/** Nothing is due while every pod has what it asks for. */
const triggerOf = ({ change, before, after }: Transition): ResizeTrigger | undefined => {
  if (after.wanted.asked.isEmpty()) return undefined;
  switch (change.kind) {
    case 'pod-set': {
      const { uid } = change.pod.metadata;
      if (!before.wanted.pods.byUid.has(uid)) return 'pods_added';
      const [asked, askedBefore] = [after.wanted.asked.get(uid), before.wanted.asked.get(uid)];
      return asked && (!askedBefore || isResized(asked, askedBefore)) ? 'pod_updated' : undefined;
    }
    case 'allocation-found':
      return 'pods_added';
    case 'pod-removed':
      return 'pods_removed';
    case 'status': {
      const phase = before.statuses.stored.get(change.uid)?.status.phase;
      return isTerminalPhase(change.status.phase) && !isTerminalPhase(phase) ? 'pod_terminated' : undefined;
    }
    case 'instance-resized':
      return 'pod_resized';
    default:
      return undefined;
  }
};
