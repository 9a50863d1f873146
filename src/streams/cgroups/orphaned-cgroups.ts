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
import { errorText } from '../../model/cri/cri-error.js';
import type { Cgroups } from '../ports/cgroups.js';
import type { Logger } from '../ports/logger.js';
import { destroyCgroup } from './destroy-cgroup.js';
import { listPodCgroups } from './pod-cgroups.js';

export interface OrphanedCgroupsOptions {
  readonly cgroups: Pick<Cgroups, 'children' | 'kill' | 'remove'>;
  readonly root: CgroupName;
  /** Emits after each housekeeping; hot. */
  readonly housekept$: Observable<unknown>;
  /** Whether a worker has the pod and has not finished it. */
  readonly isPossiblyRunning: (uid: string) => boolean;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/**
 * Destroys the cgroups of pods that no longer run: those of an agent that was killed, and those that a worker failed to remove. A
 * listing is compared with the workers after the next housekeeping, so that a pod that was just about to start at the time of the listing
 * is known by then. A slow cgroup delays neither the others nor housekeeping.
 *
 * Errors: none; a failed removal is retried after the next housekeeping. Ends: never.
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
      // A cgroup that is being destroyed is skipped; if that fails, the next listing finds it again.
      map((found) => found.filter(isFree)),
      catchError((error: unknown) => {
        log.warn({ error: errorText(error) }, 'the cgroups of pods could not be listed');
        return [[] as readonly FoundPodCgroup[]];
      }),
    );
    // The worker may have removed the cgroup since the listing.
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
