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
import { containersOf, isSidecar } from '../../model/pod/pod.js';
import { type RuntimeContainerStatus, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { ContainerSyncError, PodSyncError } from '../../model/pod-actions/sync-error.js';
import { killContainer } from './kill-container.js';
import { journaled, type PodSyncContext } from './pod-sync-context.js';
import { allNamed } from '../../model/values/indexed-lists.js';

/**
 * Stops every container that runs or may run side by side, sidecars last and in reverse order, then every sandbox. Completes when
 * all have stopped. Upstream leaves those of an unknown state.
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
    const specs = new Map(containersOf(context.pod).map((entry) => [entry.container.name, entry]));
    const sidecarNames = (context.pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
    // One of an unknown state may run, and ends in the eyes of the runtime only when it is stopped.
    const running = status.containers.filter(({ state }) => state === 'running' || state === 'unknown');
    const kill = (instance: RuntimeContainerStatus, turn$?: Observable<unknown>) =>
      killContainer(context, {
        id: instance.id,
        name: instance.name,
        container: specs.get(instance.name)?.container,
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

    const isSidecarName = new Set(sidecarNames);
    const first = running.filter(({ name }) => !isSidecarName.has(name)).map((instance) => kill(instance));
    const kills = [...first];
    let previous$: Observable<unknown> = merge(...first);
    for (const name of sidecarNames.toReversed()) {
      const turn$ = previous$;
      const instances = allNamed(running, name).map((instance) => kill(instance, turn$));
      if (instances.length === 0) continue;
      kills.push(...instances);
      previous$ = merge(...instances);
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
