import { concat, defer, EMPTY, ignoreElements, type Observable, of, type SchedulerLike, throwError, timer } from 'rxjs';
import { type CgroupName, cgroupPath, parseCgroupPath } from '../../src/model/cgroups/cgroup-name.js';
import { cpuWeight } from '../../src/model/cgroups/cpu-weight.js';
import type { CgroupResources } from '../../src/model/cgroups/cgroup-resources.js';
import type { Cgroups } from '../../src/streams/ports/cgroups.js';

export interface FakeCgroups {
  readonly cgroups: Cgroups;
  /** Paths that are there. */
  readonly there: Set<string>;
  /** `<time> <call> <path>`, in order. */
  readonly did: string[];
  /** What was written last. */
  readonly resources: Map<string, CgroupResources>;
  /** Calls that fail, such as `update /kubepods`, with what they say, as often as it is listed. */
  readonly failures: Map<string, string[]>;
  /** Calls that take time (ms), by the same names. */
  readonly takes: Map<string, number>;
}

/** Cgroups in memory and in virtual time. */
export const fakeCgroups = (scheduler: SchedulerLike, there: readonly string[] = []): FakeCgroups => {
  const fake = {
    there: new Set(['/', ...there]),
    did: [] as string[],
    resources: new Map<string, CgroupResources>(),
    failures: new Map<string, string[]>(),
    takes: new Map<string, number>(),
  };
  const pathOf = (name: CgroupName) => cgroupPath('cgroupfs', name);
  const act = (call: string, name: CgroupName, change: () => void): Observable<never> =>
    defer(() => {
      const what = `${call} ${pathOf(name)}`;
      fake.did.push(`${scheduler.now()} ${what}`);
      const failure = fake.failures.get(what)?.shift();
      const ms = fake.takes.get(what) ?? 0;
      return concat(
        ms > 0 ? timer(ms, scheduler).pipe(ignoreElements()) : EMPTY,
        defer(() => {
          if (failure !== undefined) return throwError(() => new Error(failure));
          change();
          return EMPTY;
        }),
      );
    });
  const cgroups: Cgroups = {
    version: 2,
    hugePageSizes: [],
    pathOf,
    nameOf: (path) => parseCgroupPath('cgroupfs', path),
    missing: (name) => defer(() => of(fake.there.has(pathOf(name)) ? [] : [pathOf(name)])),
    create: (name, resources) =>
      act('create', name, () => {
        for (let depth = 1; depth <= name.length; depth += 1) fake.there.add(pathOf(name.slice(0, depth)));
        fake.resources.set(pathOf(name), resources);
      }),
    update: (name, resources) =>
      act('update', name, () =>
        fake.resources.set(pathOf(name), { ...fake.resources.get(pathOf(name)), ...resources }),
      ),
    read: (name) =>
      defer(() => {
        const found = fake.resources.get(pathOf(name));
        if (!fake.there.has(pathOf(name)) || !found) return of(undefined);
        const { memory, cpuQuota = -1, cpuShares = 2 } = found;
        return of({ memory, cpuQuota, cpuWeight: cpuWeight(cpuShares), memoryUsage: 0n });
      }),
    children: (name) =>
      defer(() => {
        const below = [...fake.there].map((path) => parseCgroupPath('cgroupfs', path));
        return of(below.filter((one) => one.length > 0 && pathOf(one.slice(0, -1)) === pathOf(name)));
      }),
    kill: (name) => act('kill', name, () => undefined),
    remove: (name) =>
      act('remove', name, () => {
        const path = pathOf(name);
        for (const one of fake.there) if (one === path || one.startsWith(`${path}/`)) fake.there.delete(one);
      }),
  };
  return { ...fake, cgroups };
};
