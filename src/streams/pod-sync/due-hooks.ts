import { catchError, concatMap, defer, EMPTY, from, map, type Observable, tap } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { hasPostStart, hooksOver, idsNotExited, sortHookMarks } from '../../model/pod-actions/due-hooks.js';
import { directoryNameOf, POD_DIRECTORY_MODE, podDueHooksDirectory } from '../../model/pod/pod-paths.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { PodSyncContext } from './pod-sync-context.js';

// A postStart hook belongs to the sync that starts its container. If the agent ends before the hook, the next agent finds a running
// container and the mark of its hook on the disk, and runs the hook again. Kubernetes promises that each hook runs at least once; a
// kubelet that is started again forgets the hook.

type Context = Pick<PodSyncContext, 'pod' | 'ports'>;
type State = Pick<KubeletState, 'dueHooks' | 'apply'>;

/** Marks the hook of a container before the container starts. Errors: none. A failure is logged; the next agent does not know of the hook then. */
export const beginHook = (context: Context, containerId: string, { apply }: Pick<State, 'apply'>): Observable<never> =>
  defer(() => {
    apply({ kind: 'hook-begun', uid: context.pod.metadata.uid, containerId });
    return logged(context, 'cannot mark the postStart hook of a container', (directory) =>
      context.ports.files.makeDirectory(`${directory}/${directoryNameOf(containerId)}`, POD_DIRECTORY_MODE),
    );
  });

/**
 * Removes the mark of a hook that has succeeded, or whose container has ended. Errors: none. A failure is logged; the next agent runs
 * the hook again then.
 */
export const endHook = (context: Context, containerId: string, { apply }: Pick<State, 'apply'>): Observable<never> =>
  defer(() => {
    apply({ kind: 'hook-ended', uid: context.pod.metadata.uid, containerId });
    return logged(context, 'cannot remove the mark of a postStart hook', (directory) =>
      context.ports.files.remove(`${directory}/${directoryNameOf(containerId)}`),
    );
  });

/**
 * The first time for a pod with a postStart hook, it reads the marks of an earlier agent. From then on it removes the hooks of containers
 * that have ended. Errors: none. A failure is logged; the next sync reads again then.
 */
export const findDueHooks = (
  context: Context,
  { containers }: Pick<RuntimePodStatus, 'containers'>,
  { dueHooks, apply }: State,
): Observable<never> =>
  defer(() => {
    const { pod, ports } = context;
    const { uid } = pod.metadata;
    if (dueHooks.isKnown(uid)) {
      const over = hooksOver(dueHooks.of(uid), containers);
      return from(over).pipe(concatMap((id) => endHook(context, id, { apply })));
    }
    if (!hasPostStart(pod)) return EMPTY;
    const found = (containerIds: readonly string[]): void => void apply({ kind: 'due-hooks-found', uid, containerIds });
    if (idsNotExited(containers).length === 0) {
      found([]);
      return EMPTY;
    }
    return logged(context, 'cannot read the marks of postStart hooks', (directory) =>
      ports.files.listDirectory(directory).pipe(
        map((marks) => sortHookMarks(marks, containers)),
        tap(({ due }) => found(due)),
        concatMap(({ stale }) => from(stale)),
        concatMap((mark) => ports.files.remove(`${directory}/${mark}`)),
      ),
    );
  });

const logged = (
  { pod, ports: { node, log } }: Context,
  failure: string,
  work: (directory: string) => Observable<never>,
): Observable<never> =>
  defer(() => work(podDueHooksDirectory(node.rootDirectory, pod.metadata.uid))).pipe(
    catchError((error: unknown) => {
      log.warn({ uid: pod.metadata.uid, error: errorText(error) }, failure);
      return EMPTY;
    }),
  );
