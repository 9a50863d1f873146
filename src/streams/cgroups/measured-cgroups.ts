import { defer, finalize, type Observable, type SchedulerLike } from 'rxjs';
import type { Cgroups } from '../ports/cgroups.js';
import type { Metrics } from '../ports/metrics.js';

/**
 * The same cgroups, with the duration of each change in the metrics when it ends, also if it fails. The kill before a removal
 * is not part of it.
 *
 * Source: pkg/kubelet/cm/cgroup_manager_linux.go Create, Update, Destroy
 */
export const measuredCgroups = (
  cgroups: Cgroups,
  { metrics, scheduler }: { readonly metrics: Pick<Metrics, 'cgroupOperation'>; readonly scheduler: SchedulerLike },
): Cgroups => {
  const measured = <T>(operation: 'create' | 'update' | 'destroy', change$: Observable<T>): Observable<T> =>
    defer(() => {
      const startedAt = scheduler.now();
      return change$.pipe(finalize(() => metrics.cgroupOperation(operation, (scheduler.now() - startedAt) / 1_000)));
    });
  return {
    ...cgroups,
    create: (name, resources) => measured('create', cgroups.create(name, resources)),
    update: (name, resources) => measured('update', cgroups.update(name, resources)),
    remove: (name) => measured('destroy', cgroups.remove(name)),
  };
};
