import { catchError, concatMap, defer, EMPTY, from, map, type Observable, of, toArray } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { neverStarted, withLostStarts } from '../../model/pod-actions/with-lost-starts.js';
import type { Pod } from '../../model/pod/pod.js';
import { POD_DIRECTORY_MODE, podBegunStartDirectory } from '../../model/pod/pod-paths.js';
import type { PodSyncContext } from './pod-sync-context.js';

// containerd renames the file with the status of a container without a sync of its folder: after a loss of power a container that has run may
// show as created. Under the policy Never it must not run again, so the agent keeps a mark of its own before each start. The mark names the
// boot: within one boot the runtime forgets nothing, and a container that shows as created has not been started.

interface Context {
  readonly pod: Pod;
  readonly ports: Pick<PodSyncContext['ports'], 'files' | 'node' | 'log'>;
}

/**
 * Completes once a loss of power cannot undo the mark. Does nothing for a pod whose containers may run twice, and with a runtime that keeps
 * each start itself.
 *
 * Errors: those of the disk, which prevent the start.
 */
export const markStart = (context: Context, containerId: string): Observable<never> =>
  defer(() => {
    const marks = marksOf(context);
    if (!marks) return EMPTY;
    const mark = `${marks.directoryOf(containerId)}/${marks.bootId}`;
    return context.ports.files.keepDirectory(mark, POD_DIRECTORY_MODE, context.ports.node.rootDirectory);
  });

/** Removes the mark of a container that is gone. Errors: none; a failure is logged, and the mark goes with the directory of the pod. */
export const unmarkStart = (context: Context, containerId: string): Observable<never> =>
  defer(() => {
    const marks = marksOf(context);
    return marks ? context.ports.files.remove(marks.directoryOf(containerId)) : EMPTY;
  }).pipe(
    catchError((error: unknown) => {
      const { pod, ports } = context;
      ports.log.warn({ uid: pod.metadata.uid, error: errorText(error) }, 'cannot remove the mark of a start');
      return EMPTY;
    }),
  );

/**
 * Emits the view in which created containers have ended whose start an earlier boot has marked; see `withLostStarts`.
 *
 * Errors: the marks cannot be read.
 */
export const seeLostStarts = (context: Context, status: RuntimePodStatus): Observable<RuntimePodStatus> =>
  defer(() => {
    const marks = marksOf(context);
    const created = neverStarted(status);
    if (!marks || created.length === 0) return of(status);
    return from(created).pipe(
      concatMap(({ id: containerId }) =>
        context.ports.files
          .listDirectory(marks.directoryOf(containerId))
          .pipe(map((boots) => ({ containerId, boots }))),
      ),
      toArray(),
      map((begun) => withLostStarts(status, begun, marks.bootId)),
    );
  });

/** The marks of a pod; undefined if its starts need none. */
const marksOf = ({ pod: { metadata, spec }, ports: { node } }: Context) => {
  const { bootId = '', rootDirectory, keepsStarts = false } = node;
  if (spec.restartPolicy !== 'Never' || bootId === '' || keepsStarts) return undefined;
  return { bootId, directoryOf: (id: string) => podBegunStartDirectory(rootDirectory, metadata.uid, id) };
};
