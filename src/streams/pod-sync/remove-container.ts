import { catchError, concat, concatMap, defer, EMPTY, from, ignoreElements, map, type Observable } from 'rxjs';
import { surplusInitContainers } from '../../model/pod-actions/compute-init-container-actions.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { ignoreNotFound } from '../upkeep/remove-dead-container.js';
import { unmarkStart } from './begun-starts.js';
import { unlinkLog } from './link-log.js';
import { journaled, type PodSyncContext } from './pod-sync-context.js';

/**
 * Removes one instance from the runtime, after its log files and the link to them unless these are kept. If they cannot be
 * removed, the instance stays: without it no later sync would remove the files.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go removeContainer
 */
export const removeContainer = (
  context: PodSyncContext,
  { id, name, logPath }: { readonly id: string; readonly name: string; readonly logPath?: string },
  { keepLogs }: { readonly keepLogs: boolean },
): Observable<never> =>
  concat(
    keepLogs || !logPath ? EMPTY : context.ports.files.removeLog(logPath),
    keepLogs ? EMPTY : unlinkLog(context, { id, name }),
    defer(() =>
      journaled(
        context,
        'RemoveContainer',
        { target: id, container: name },
        context.ports.runtime.removeContainer({ containerId: id }),
      ).pipe(ignoreElements()),
    ),
    unmarkStart(context, id),
  );

/**
 * Removes an instance that was created and never started: an agent died between the two calls, or did not receive the reply to the
 * first one. The runtime may still start it, so the next instance has to wait for its removal.
 *
 * Errors: the runtime's, which refuses while it starts the instance. An instance that has started since the view of the pod stays.
 */
export const removeUnstarted = (
  context: PodSyncContext,
  { containers }: RuntimePodStatus,
  name: string,
): Observable<never> =>
  from(containers.filter((instance) => instance.name === name && instance.state === 'created')).pipe(
    concatMap((instance) =>
      concat(stillUnstarted(context, instance), removeContainer(context, instance, { keepLogs: true })),
    ),
  );

/** Reads the instance again: a pull since the view of the pod takes long enough for a start by another client. */
const stillUnstarted = ({ ports }: PodSyncContext, { id }: { readonly id: string }): Observable<never> =>
  ports.runtime.containerStatus({ containerId: id }).pipe(
    map(({ status }) => {
      if (status && status.state !== 'CONTAINER_CREATED') throw new Error(`${id} has been started in the meantime`);
    }),
    // An instance that is gone never started; its removal ends well.
    catchError(ignoreNotFound),
    ignoreElements(),
  );

/** Removes instances of init containers with their logs, one after the other; see `surplusInitContainers`. */
export const pruneInitContainers = (
  context: PodSyncContext,
  { containers }: RuntimePodStatus,
  which: 'all' | 'all-but-newest',
): Observable<never> =>
  defer(() => {
    const surplus = surplusInitContainers(context.pod, containers, which);
    return from(surplus).pipe(concatMap((instance) => removeContainer(context, instance, { keepLogs: false })));
  });
