import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  merge,
  type Observable,
  of,
  ReplaySubject,
  share,
  throwError,
  toArray,
} from 'rxjs';
import { errorText, isCriError } from '../../model/cri/cri-error.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { stopOrder, type StopTarget } from '../../model/pod-actions/stopping.js';
import { ContainerSyncError, PodSyncError } from '../../model/pod-actions/sync-error.js';
import { killContainer } from './kill-container.js';
import { journaled, type PodSyncContext } from './pod-sync-context.js';

/**
 * Stops every container that runs or may run side by side, sidecars last and in reverse order, then every sandbox. Completes when
 * all have stopped; see `stopOrder`.
 *
 * Errors: `PodSyncError` with all that could not be stopped, after every stop was tried.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go killPodWithSyncResult, kuberuntime_termination_order.go
 */
export const killPod = (context: PodSyncContext, status: RuntimePodStatus, graceSeconds?: number): Observable<never> =>
  concat(killContainers(context, status, graceSeconds), stopSandboxes(context, status)).pipe(
    toArray(),
    concatMap((errors) => (errors.length > 0 ? throwError(() => new PodSyncError(errors)) : EMPTY)),
  );

/** Emits one error per container that could not be stopped; completes when all others have stopped. */
const killContainers = (
  context: PodSyncContext,
  status: RuntimePodStatus,
  graceSeconds: number | undefined,
): Observable<Error> =>
  defer(() => {
    const { first, turns } = stopOrder(context.pod, status.containers);
    const kill = ({ instance, container }: StopTarget, turn$?: Observable<unknown>) =>
      killContainer(context, {
        id: instance.id,
        name: instance.name,
        container,
        graceSeconds,
        podIps: status.ips,
        turn$,
      }).pipe(
        catchError((error: unknown) =>
          of(new ContainerSyncError(instance.name, 'KillContainerError', errorText(error), { cause: error })),
        ),
        // Several subscribers wait for its end, and its errors are read once: there is one kill.
        share({ connector: () => new ReplaySubject<Error>(1), resetOnComplete: false, resetOnError: false }),
      );

    const kills = first.map((target) => kill(target));
    let previous$: Observable<unknown> = merge(...kills);
    for (const targets of turns) {
      const turn$ = previous$;
      const sidecars = targets.map((target) => kill(target, turn$));
      kills.push(...sidecars);
      previous$ = merge(...sidecars);
    }
    return merge(...kills);
  });

const stopSandboxes = (context: PodSyncContext, { sandboxes }: RuntimePodStatus): Observable<Error> =>
  from(sandboxes).pipe(
    concatMap(({ id }) => {
      const stop$ = context.ports.runtime.stopPodSandbox({ podSandboxId: id });
      return journaled(context, 'StopPodSandbox', { target: id }, stop$).pipe(
        ignoreElements(),
        catchError((error: unknown) =>
          isCriError(error, 'not-found')
            ? EMPTY
            : of(new Error(`KillPodSandboxError: sandbox ${id}: ${errorText(error)}`, { cause: error })),
        ),
      );
    }),
  );
