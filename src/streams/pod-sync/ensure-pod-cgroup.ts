import { catchError, concat, concatMap, defer, endWith, type Observable, of, throwError } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { runningContainersOf, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { PodSyncError } from '../../model/pod-actions/sync-error.js';
import type { PodCgroups } from '../cgroups/pod-cgroups.js';
import { killPod } from './kill-pod.js';
import { emitEvent, throwIfCancelled, type PodSyncContext } from './pod-sync-context.js';

/**
 * Emits once: `ready` when the pod has its cgroup, or `killed` when it had none although a container runs. Such a pod was
 * started without cgroups, or another process has removed them. It is killed, and a later sync starts it again in a cgroup. A pod
 * that can never start again ends, and gets no cgroup.
 *
 * Upstream makes the cgroup in the same sync, also after a failed kill, and then never kills the pod. This agent repeats the kill.
 *
 * Errors: of the kill, and `PodSyncError` if the cgroup cannot be made; each after its event.
 * Source: pkg/kubelet/kubelet.go SyncPod
 */
export const ensurePodCgroup = (
  context: PodSyncContext,
  podCgroups: PodCgroups,
  status: RuntimePodStatus,
): Observable<'ready' | 'killed'> => {
  const report = (reason: string, text: string) => (error: unknown) => {
    emitEvent(context, 'Warning', reason, `${text}: ${errorText(error)}`);
    return throwError(() => error);
  };
  const kill$ = defer(() =>
    concat(
      throwIfCancelled(context),
      killPod(context, status).pipe(catchError(report('FailedKillPod', 'error killing pod'))),
      podCgroups.weigh(),
    ),
  );
  const failed = report('FailedCreatePodContainer', 'unable to ensure pod container exists');
  const ensure$ = defer(() => podCgroups.ensure(context.pod)).pipe(
    catchError(failed),
    catchError((error: unknown) => {
      const problem = `failed to ensure that the pod: ${context.pod.metadata.uid} cgroups exist and are correctly applied`;
      return throwError(() => new PodSyncError([new Error(`${problem}: ${errorText(error)}`, { cause: error })]));
    }),
  );
  if (runningContainersOf(status).length === 0) return ensure$.pipe(endWith('ready' as const));
  return podCgroups
    .exists(context.pod)
    .pipe(concatMap((isThere) => (isThere ? of('ready' as const) : kill$.pipe(endWith('killed' as const)))));
};
