import { defer, EMPTY, filter, ignoreElements, type Observable, take } from 'rxjs';
import type { Pod } from '../../model/pod/pod.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';

/**
 * Completes once no volume of a pod is mounted, or may be: at once, or with the change by which that is so.
 *
 * Errors: none.
 * Source: pkg/kubelet/volumemanager/volume_manager.go WaitForAllPodsUnmount
 */
export const untilUnmounted =
  ({ volumes, transition$ }: Pick<KubeletState, 'volumes' | 'transition$'>) =>
  ({ metadata: { uid } }: Pod): Observable<never> => {
    const isUnmounted = (): boolean => !volumes.hasAny(uid);
    return defer(() => (isUnmounted() ? EMPTY : transition$.pipe(filter(isUnmounted), take(1), ignoreElements())));
  };
