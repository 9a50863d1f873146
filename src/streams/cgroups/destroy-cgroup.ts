import { concat, defer, type Observable, retry, type SchedulerLike, timer } from 'rxjs';
import type { CgroupName } from '../../model/cgroups/cgroup-name.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { Cgroups } from '../ports/cgroups.js';

/** Source: pkg/kubelet/cm/pod_container_manager_linux.go tryKillingCgroupProcesses. The waits are those of runc, twice as long. */
export const KILL_ROUNDS = 5;
export const ROUND_BACKOFF: Backoff = { initialMs: 20, maxMs: 160 };

/**
 * Kills all processes in the cgroup and below, and removes it. Processes that fork while they are killed, or die slowly, need further
 * rounds: up to five, 20, 40, 80 and 160 ms apart.
 *
 * Errors: that of the last round.
 * Ends:   when the cgroup is removed.
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
      delay: (_, round) => timer(nextDelay(ROUND_BACKOFF, round), scheduler),
    }),
  );
