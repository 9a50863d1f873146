import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  from,
  ignoreElements,
  type Observable,
  of,
  ReplaySubject,
  share,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import {
  POD_DIRECTORY_MODE,
  podDataDirectories,
  podDirectory,
  podsDirectory,
  podVolumesDirectory,
} from '../../model/pod/pod-paths.js';
import { countOrphans, type DirectoryEnd, mountedReason, volumesReason } from '../../model/upkeep/pod-directories.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { NodeFiles } from '../ports/node-files.js';
import type { PodFiles } from '../ports/pod-files.js';

export interface PodDirectoriesOptions {
  readonly files: Pick<NodeFiles, 'makeDirectory' | 'listDirectory' | 'remove'>;
  readonly podFiles: Pick<PodFiles, 'mountsBelow'>;
  /** Takes down what is left of the volumes of a pod that is over. */
  readonly removeVolumes: (uid: string) => Observable<never>;
  readonly rootDirectory: string;
  readonly metrics: Pick<Metrics, 'orphansCleaned'>;
  readonly log: Logger;
}

/** The directories that the agent keeps for pods. */
export interface PodDirectories {
  /** Creates the directories of a pod and completes. Errors: Node's own. */
  readonly make: (uid: string) => Observable<never>;
  /**
   * Removes the directories of former pods, on each `tick$` while no clean-up runs. A directory with a mount or with volumes
   * stays, since it may hold data of other owners. `isOver` is called right before each removal. The metrics have the counts of the
   * last clean-up.
   *
   * Errors: those of `tick$`; a failed removal is logged once and retried on the next tick.
   * Ends:   with `tick$`.
   */
  readonly cleanUp: <Tick>(tick$: Observable<Tick>, isOver: (uid: string, tick: Tick) => boolean) => Observable<never>;
}

/**
 * Makes the directories of pods. A pod may return with its former UID (a manifest that is removed and put back): `make` waits for a
 * removal of the same UID before it creates the directories.
 *
 * Source: pkg/kubelet/kubelet_pods.go makePodDataDirs, pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs
 */
export const podDirectories = ({
  files,
  podFiles,
  removeVolumes,
  rootDirectory,
  metrics,
  log,
}: PodDirectoriesOptions): PodDirectories => {
  const removals = new Map<string, Observable<never>>();
  const logged = new Set<string>();

  const make = (uid: string): Observable<never> =>
    from(podDataDirectories(rootDirectory, uid)).pipe(
      concatMap((path) => files.makeDirectory(path, POD_DIRECTORY_MODE)),
    );

  /** Removes the directory; the removal runs to its end even after an unsubscription. */
  const remove = (uid: string): Observable<never> => {
    const removal$ = files.remove(podDirectory(rootDirectory, uid)).pipe(
      finalize(() => removals.delete(uid)),
      share({ connector: () => new ReplaySubject<never>(1), resetOnRefCountZero: false }),
    );
    removals.set(uid, removal$);
    return removal$;
  };

  /** Completes if the directory holds only data of the agent. Errors: it has a mount or volumes. */
  const requireFree = (uid: string): Observable<never> => {
    const directory = podDirectory(rootDirectory, uid);
    const volumes = podVolumesDirectory(rootDirectory, uid);
    return concat(
      podFiles.mountsBelow(directory).pipe(concatMap((mounts) => failFor(mountedReason(mounts)))),
      files.listDirectory(volumes).pipe(
        concatMap((plugins) => from(plugins)),
        concatMap((plugin) =>
          files.listDirectory(`${volumes}/${plugin}`).pipe(concatMap((names) => failFor(volumesReason(plugin, names)))),
        ),
      ),
    );
  };

  /** Emits nothing for a pod that has come back. */
  const cleanUpOne = (uid: string, isOver: () => boolean): Observable<DirectoryEnd> =>
    concat(
      removeVolumes(uid),
      requireFree(uid),
      defer(() => (isOver() ? concat(remove(uid), of('removed' as const)) : EMPTY)),
    ).pipe(
      tap({ complete: () => logged.delete(uid) }),
      catchError((error: unknown) => {
        if (!logged.has(uid)) {
          log.warn({ uid, error: errorText(error) }, 'the directory of a pod that is over could not be removed');
        }
        logged.add(uid);
        return of('stays' as const);
      }),
    );

  return {
    make: (uid) =>
      concat(
        defer(() => removals.get(uid) ?? EMPTY).pipe(catchError(() => EMPTY)),
        defer(() => make(uid)),
      ),
    cleanUp: (tick$, isOver) =>
      tick$.pipe(
        exhaustMap((tick) =>
          files.listDirectory(podsDirectory(rootDirectory)).pipe(
            concatMap((uids) => uids),
            concatMap((uid) => (isOver(uid, tick) ? cleanUpOne(uid, () => isOver(uid, tick)) : EMPTY)),
            toArray(),
            tap((ends) => metrics.orphansCleaned(countOrphans(ends))),
            ignoreElements(),
            catchError((error: unknown) => {
              log.warn({ error: errorText(error) }, 'the directories of pods could not be listed');
              return EMPTY;
            }),
          ),
        ),
      ),
  };
};

const failFor = (reason: string | undefined): Observable<never> =>
  reason === undefined ? EMPTY : throwError(() => new Error(reason));
