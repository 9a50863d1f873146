import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  finalize,
  from,
  type Observable,
  ReplaySubject,
  share,
  tap,
  throwError,
} from 'rxjs';
import { errorText } from '../model/cri-error.js';
import {
  POD_DIRECTORY_MODE,
  podDataDirectories,
  podDirectory,
  podsDirectory,
  podVolumesDirectory,
} from '../model/pod-paths.js';
import type { Logger, NodeFiles, PodFiles } from './ports.js';

export interface PodDirectoriesOptions {
  readonly files: Pick<NodeFiles, 'makeDirectory' | 'listDirectory' | 'remove'>;
  readonly podFiles: Pick<PodFiles, 'mountsBelow'>;
  readonly rootDirectory: string;
  readonly log: Logger;
}

/** The directories that the agent keeps for pods. */
export interface PodDirectories {
  /** Makes those of a pod, and completes once they are there. Errors: Node's own. */
  readonly make: (uid: string) => Observable<never>;
  /**
   * Removes those of pods that are over, on each `tick$` that comes when no clean-up is under way. A directory in which something is mounted or that
   * holds volumes stays: data of others may lie there. `isOver` is asked just before each removal.
   *
   * Errors: none of its own; what cannot be removed is said once, and tried again on the next tick.
   * Ends:   with `tick$`.
   */
  readonly cleanUp: <Tick>(tick$: Observable<Tick>, isOver: (uid: string, tick: Tick) => boolean) => Observable<never>;
}

/**
 * A pod may come back under the uid of one that is over (a manifest that is taken away and put back); a removal that has begun is
 * waited for before its directories are made anew.
 *
 * Source: pkg/kubelet/kubelet_pods.go makePodDataDirs, pkg/kubelet/kubelet_volumes.go cleanupOrphanedPodDirs
 */
export const podDirectories = ({ files, podFiles, rootDirectory, log }: PodDirectoriesOptions): PodDirectories => {
  const removals = new Map<string, Observable<never>>();
  const told = new Set<string>();

  const make = (uid: string): Observable<never> =>
    from(podDataDirectories(rootDirectory, uid)).pipe(
      concatMap((path) => files.makeDirectory(path, POD_DIRECTORY_MODE)),
    );

  /** Runs to its end even if nobody waits any more. */
  const remove = (uid: string): Observable<never> => {
    const removal$ = files.remove(podDirectory(rootDirectory, uid)).pipe(
      finalize(() => removals.delete(uid)),
      share({ connector: () => new ReplaySubject<never>(1), resetOnRefCountZero: false }),
    );
    removals.set(uid, removal$);
    return removal$;
  };

  /** Completes without an error if nothing below the directory belongs to anybody but the agent. */
  const requireFree = (uid: string): Observable<never> => {
    const directory = podDirectory(rootDirectory, uid);
    // Here the volumes of the pod will be taken down, once there are any.
    return concat(
      podFiles
        .mountsBelow(directory)
        .pipe(concatMap(([mount]) => (mount === undefined ? EMPTY : inUse(`something is mounted at ${mount}`)))),
      files
        .listDirectory(podVolumesDirectory(rootDirectory, uid))
        .pipe(concatMap(([volume]) => (volume === undefined ? EMPTY : inUse(`it still has volumes: ${volume}`)))),
    );
  };

  const cleanUpOne = (uid: string, isOver: () => boolean): Observable<never> =>
    concat(
      requireFree(uid),
      defer(() => (isOver() ? remove(uid) : EMPTY)),
    ).pipe(
      tap({ complete: () => told.delete(uid) }),
      catchError((error: unknown) => {
        if (!told.has(uid)) {
          log.warn({ uid, error: errorText(error) }, 'the directory of a pod that is over could not be removed');
        }
        told.add(uid);
        return EMPTY;
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
            catchError((error: unknown) => {
              log.warn({ error: errorText(error) }, 'the directories of pods could not be listed');
              return EMPTY;
            }),
          ),
        ),
      ),
  };
};

const inUse = (why: string): Observable<never> => throwError(() => new Error(why));
