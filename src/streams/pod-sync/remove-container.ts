import { concat, concatMap, defer, EMPTY, from, ignoreElements, type Observable } from 'rxjs';
import type { RuntimePodStatus } from '../../model/runtime-pod.js';
import { journaled, type PodSyncContext } from './pod-sync-context.js';

/**
 * Removes one instance from the runtime, after its log files unless these are kept. If the logs cannot be removed the
 * instance stays, so that nothing is left that nobody knows of.
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
    defer(() =>
      journaled(
        context,
        'RemoveContainer',
        { target: id, container: name },
        context.ports.runtime.removeContainer({ containerId: id }),
      ).pipe(ignoreElements()),
    ),
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
