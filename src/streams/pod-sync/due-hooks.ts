import { catchError, concatMap, defer, EMPTY, from, type Observable, tap } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { containersOf, type Pod } from '../../model/pod/pod.js';
import { directoryNameOf, POD_DIRECTORY_MODE, podDueHooksDirectory } from '../../model/pod/pod-paths.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { PodSyncContext } from './pod-sync-context.js';

// A postStart hook belongs to the pass that starts its container. If the agent ends before the hook does, the next agent finds a container
// that runs, and the mark of its hook on the disk; it runs the hook again. Kubernetes promises each hook at least once, and a kubelet
// forgets it here.

type Context = Pick<PodSyncContext, 'pod' | 'ports'>;
type State = Pick<KubeletState, 'dueHooks' | 'apply'>;

/** Marks the hook of a container before its start. Errors: none; a failure is logged, and the next agent does not know of the hook. */
export const beginHook = (context: Context, containerId: string, { apply }: Pick<State, 'apply'>): Observable<never> =>
  defer(() => {
    apply({ kind: 'hook-begun', uid: context.pod.metadata.uid, containerId });
    return logged(context, 'cannot mark the postStart hook of a container', (directory) =>
      context.ports.files.makeDirectory(`${directory}/${directoryNameOf(containerId)}`, POD_DIRECTORY_MODE),
    );
  });

/**
 * Removes the mark of a hook that has ended well, or whose container has ended. Errors: none; a failure is logged, and the next agent runs
 * the hook again.
 */
export const endHook = (context: Context, containerId: string, { apply }: Pick<State, 'apply'>): Observable<never> =>
  defer(() => {
    apply({ kind: 'hook-ended', uid: context.pod.metadata.uid, containerId });
    return logged(context, 'cannot remove the mark of a postStart hook', (directory) =>
      context.ports.files.remove(`${directory}/${directoryNameOf(containerId)}`),
    );
  });

/**
 * Drops the hooks of containers that have ended, and reads the marks of an earlier agent once for each pod that has a postStart hook.
 * Errors: none; a failure is logged, and the next sync reads again.
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
      const over = dueHooks.of(uid).filter((id) => !containers.some((one) => one.id === id && one.state !== 'exited'));
      return from(over).pipe(concatMap((id) => endHook(context, id, { apply })));
    }
    if (!hasPostStart(pod)) return EMPTY;
    const found = (containerIds: readonly string[]): void => apply({ kind: 'due-hooks-found', uid, containerIds });
    // One in an unknown state may be seen to run later.
    const alive = containers.filter(({ state }) => state === 'running' || state === 'unknown').map(({ id }) => id);
    if (alive.length === 0) {
      found([]);
      return EMPTY;
    }
    return logged(context, 'cannot read the marks of postStart hooks', (directory) =>
      ports.files.listDirectory(directory).pipe(
        tap((marks) => found(alive.filter((id) => marks.includes(directoryNameOf(id))))),
        concatMap((marks) => from(marks.filter((mark) => !alive.some((id) => directoryNameOf(id) === mark)))),
        concatMap((mark) => ports.files.remove(`${directory}/${mark}`)),
      ),
    );
  });

const hasPostStart = (pod: Pod): boolean =>
  containersOf(pod).some(({ container }) => container.lifecycle?.postStart !== undefined);

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
