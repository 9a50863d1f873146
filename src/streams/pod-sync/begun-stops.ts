import { catchError, concat, concatMap, defer, EMPTY, from, type Observable, of, throwError, timeout } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { Pod } from '../../model/pod/pod.js';
import { directoryNameOf, namesOfOthers, POD_DIRECTORY_MODE, podStopsDirectory } from '../../model/pod/pod-paths.js';
import type { PodSyncContext } from './pod-sync-context.js';

// No runtime distinguishes a container that was stopped from one that ended by itself: both have an exit code. If the agent ends between
// the stop of a container and that of its sandbox, the next agent finds the mark.

interface Context {
  readonly pod: Pod;
  readonly ports: Pick<PodSyncContext['ports'], 'files' | 'node' | 'log'>;
}

/** The longest wait of a stop for its mark, in milliseconds: a disk that hangs must not keep a container from being stopped. */
export const STOP_MARK_MS = 1_000;

/** Marks an instance before it is stopped. Errors: none. A failure is logged; another agent takes the end for a crash then. */
export const markStop = (
  { pod, ports }: Context & { readonly ports: Pick<PodSyncContext['ports'], 'scheduler'> },
  containerId: string,
): Observable<never> =>
  defer(() =>
    ports.files.makeDirectory(`${directoryOf({ pod, ports })}/${directoryNameOf(containerId)}`, POD_DIRECTORY_MODE),
  ).pipe(
    timeout({
      first: STOP_MARK_MS,
      scheduler: ports.scheduler,
      with: () => throwError(() => new Error(`the disk has not answered within ${STOP_MARK_MS} ms`)),
    }),
    catchError((error: unknown) => {
      ports.log.warn({ uid: pod.metadata.uid, error: errorText(error) }, 'cannot mark the stop of a container');
      return EMPTY;
    }),
  );

/**
 * Emits whether an agent has begun to stop the instance, and removes the marks of instances that are gone. Errors: none. A failure is
 * logged; the end is taken for a crash then.
 */
export const isStopBegun = (
  { pod, ports }: Context,
  { containers }: Pick<RuntimePodStatus, 'containers'>,
  containerId: string,
): Observable<boolean> =>
  defer(() => ports.files.listDirectory(directoryOf({ pod, ports }))).pipe(
    concatMap((marks) => {
      const gone$ = from(namesOfOthers(marks, containers)).pipe(
        concatMap((mark) => ports.files.remove(`${directoryOf({ pod, ports })}/${mark}`)),
      );
      return concat(gone$, of(marks.includes(directoryNameOf(containerId))));
    }),
    catchError((error: unknown) => {
      ports.log.warn({ uid: pod.metadata.uid, error: errorText(error) }, 'cannot read the marks of stops');
      return of(false);
    }),
  );

const directoryOf = ({ pod, ports: { node } }: Context): string =>
  podStopsDirectory(node.rootDirectory, pod.metadata.uid);
