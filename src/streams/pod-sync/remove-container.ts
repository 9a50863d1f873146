import { catchError, concat, concatMap, defer, EMPTY, from, ignoreElements, map, type Observable } from 'rxjs';
import type { RuntimePodStatus } from '../../model/runtime-pod.js';
import { ignoreNotFound } from '../remove-dead-container.js';
import { unlinkLog } from './link-log.js';
import { journaled, type PodSyncContext } from './pod-sync-context.js';

/**
 * Removes one instance from the runtime, after its log files and the link to them unless these are kept. If they cannot be
 * removed the instance stays, so that nothing is left that nobody knows of.
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
  );

/**
 * Removes what was created of a container and never started: an agent died between the two calls, or never heard that the
 * first one succeeded. The runtime may still be about to start it, so nothing may take its place before it is gone.
 *
 * Errors: the runtime's, which refuses while it starts the instance; one that has been started since it was looked at is left
 * alone.
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

/** An image may have been pulled since the look at the pod, which takes long enough for a start that somebody else has asked for. */
const stillUnstarted = ({ ports }: PodSyncContext, { id }: { readonly id: string }): Observable<never> =>
  ports.runtime.containerStatus({ containerId: id }).pipe(
    map(({ status }) => {
      if (status && status.state !== 'CONTAINER_CREATED') throw new Error(`${id} has been started in the meantime`);
    }),
    // What is gone was never started; removing it says so once more.
    catchError(ignoreNotFound),
    ignoreElements(),
  );

/** Removes ended instances of init containers with their logs: all of them, or all but the newest of each name. */
export const pruneInitContainers = (
  context: PodSyncContext,
  { containers }: RuntimePodStatus,
  which: 'all' | 'all-but-newest',
): Observable<never> =>
  defer(() => {
    const names = new Set((context.pod.spec.initContainers ?? []).map(({ name }) => name));
    const kept = new Set<string>();
    const surplus = containers.filter(({ name, state }) => {
      if (!names.has(name)) return false;
      if (which === 'all') return true;
      if (state !== 'exited' && state !== 'unknown') return false;
      if (kept.has(name)) return true;
      kept.add(name);
      return false;
    });
    return from(surplus).pipe(concatMap((instance) => removeContainer(context, instance, { keepLogs: false })));
  });
