import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  finalize,
  map,
  mergeMap,
  type Observable,
  repeat,
  type SchedulerLike,
  take,
  tap,
} from 'rxjs';
import type { CgroupName } from '../../model/cgroups/cgroup-name.js';
import type { FoundPodCgroup } from '../../model/cgroups/pod-cgroup-name.js';
import { errorText } from '../../model/cri-error.js';
import type { Cgroups, Logger } from '../ports.js';
import { destroyCgroup } from './destroy-cgroup.js';
import { listPodCgroups } from './pod-cgroups.js';

export interface OrphanedCgroupsOptions {
  readonly cgroups: Pick<Cgroups, 'children' | 'kill' | 'remove'>;
  readonly root: CgroupName;
  /** Emits whenever housekeeping has brought workers, configuration and runtime together; hot. */
  readonly housekept$: Observable<unknown>;
  /** A worker has the pod and is not done with it. */
  readonly isPossiblyRunning: (uid: string) => boolean;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/**
 * Destroys the cgroups of pods that are not running any more: what a killed agent has left, and what nobody else could
 * remove. What is listed is judged after the next housekeeping, so that a pod which was about to appear when the listing was
 * taken is known by then. One cgroup that takes long holds no other back, and never housekeeping.
 *
 * Errors: none; what fails is tried again after the next housekeeping. Ends: never.
 * Source: pkg/kubelet/kubelet_pods.go cleanupOrphanedPodCgroups
 */
export const orphanedCgroups = ({
  cgroups,
  root,
  housekept$,
  isPossiblyRunning,
  log,
  scheduler,
}: OrphanedCgroupsOptions): Observable<never> =>
  defer(() => {
    const inHand = new Set<string>();
    const isFree = ({ name }: FoundPodCgroup) => !inHand.has(name.join('/'));
    const listed$ = defer(() => listPodCgroups(cgroups, root)).pipe(
      // One that is just being destroyed will be gone; if not, it is found again.
      map((found) => found.filter(isFree)),
      catchError((error: unknown) => {
        log.warn({ error: errorText(error) }, 'the cgroups of pods could not be listed');
        return [[] as readonly FoundPodCgroup[]];
      }),
    );
    // The worker of a pod that has just ended may have removed it since the listing.
    const stillThere = (orphans: readonly FoundPodCgroup[]): Observable<FoundPodCgroup> =>
      listed$.pipe(mergeMap((found) => found.filter(({ uid }) => orphans.some((orphan) => orphan.uid === uid))));
    return listed$.pipe(
      concatMap((found) =>
        housekept$.pipe(
          take(1),
          map(() => found.filter(({ uid }) => !isPossiblyRunning(uid))),
        ),
      ),
      repeat(),
      mergeMap((orphans) => (orphans.length === 0 ? EMPTY : stillThere(orphans))),
      mergeMap(({ uid, name }) => {
        const cgroup = name.join('/');
        inHand.add(cgroup);
        return destroyCgroup(cgroups, name, scheduler).pipe(
          tap({ complete: () => log.info({ uid, cgroup }, 'removed the cgroup of a pod that is gone') }),
          catchError((error: unknown) => {
            log.warn({ uid, cgroup, error: errorText(error) }, 'the cgroup of a pod that is gone could not be removed');
            return EMPTY;
          }),
          finalize(() => inHand.delete(cgroup)),
        );
      }),
    );
  });
