import { concat, defer, type Observable, retry, type SchedulerLike, timer } from 'rxjs';
import type { CgroupName } from '../../model/cgroups/cgroup-name.js';
import type { Cgroups } from '../ports.js';

/** Source: pkg/kubelet/cm/pod_container_manager_linux.go tryKillingCgroupProcesses. The waits are those of runc, twice as long. */
const KILL_ROUNDS = 5;
const FIRST_WAIT_MS = 20;

/**
 * Kills whatever is in the cgroup and below, and removes it. What forks faster than it is killed, or takes long to die, is
 * tried five times, 20, 40, 80 and 160 ms apart.
 *
 * Errors: that of the last round.
 */
export const destroyCgroup = (
  cgroups: Pick<Cgroups, 'kill' | 'remove'>,
  name: CgroupName,
  scheduler: SchedulerLike,
): Observable<never> =>
  concat(
    defer(() => cgroups.kill(name)),
    defer(() => cgroups.remove(name)),
  ).pipe(
    retry({
      count: KILL_ROUNDS - 1,
      delay: (_, round) => timer(FIRST_WAIT_MS * 2 ** (round - 1), scheduler),
    }),
  );
