import { catchError, concat, concatMap, defer, endWith, type Observable, of, throwError } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import { runningContainersOf, type RuntimePodStatus } from '../../model/runtime-pod.js';
import { PodSyncError } from '../../model/sync-error.js';
import type { PodCgroups } from '../cgroups/pod-cgroups.js';
import { killPod } from './kill-pod.js';
import { emitEvent, letGo, type PodSyncContext } from './pod-sync-context.js';

/**
 * Emits once: `ready` when the pod has its cgroup, or `killed` when it had none although a container runs. Such a pod was
 * started without cgroups, or somebody has removed them; it is killed so that a later pass, which sees it stopped, builds it
 * up anew in a cgroup. One that can never start again is over then, and gets none.
 *
 * Upstream makes the cgroup in the same pass, also when the kill has failed, and then never tries to kill again; we try again.
 *
 * Errors: of the kill, and `PodSyncError` when the cgroup could not be made; each after the event that tells of it.
 * Source: pkg/kubelet/kubelet.go SyncPod
 */
export const ensurePodCgroup = (
  context: PodSyncContext,
  podCgroups: PodCgroups,
  status: RuntimePodStatus,
): Observable<'ready' | 'killed'> => {
  const tell = (reason: string, text: string) => (error: unknown) => {
    emitEvent(context, 'Warning', reason, `${text}: ${errorText(error)}`);
    return throwError(() => error);
  };
  const kill$ = defer(() =>
    concat(
      letGo(context),
      killPod(context, status).pipe(catchError(tell('FailedKillPod', 'error killing pod'))),
      podCgroups.weigh(),
    ),
  );
  const failed = tell('FailedCreatePodContainer', 'unable to ensure pod container exists');
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
