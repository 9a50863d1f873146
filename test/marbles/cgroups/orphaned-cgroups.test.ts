import { type SchedulerLike, timer } from 'rxjs';
import { expect, it } from 'vitest';
import { orphanedCgroups } from '../../../src/streams/cgroups/orphaned-cgroups.js';
import { fakeCgroups } from '../../support/fake-cgroups.js';
import { marbles } from '../marbles.js';

const parents = ['/kubepods', '/kubepods/burstable', '/kubepods/besteffort'];

const stageOf = (scheduler: SchedulerLike, pods: readonly string[]) => {
  const fake = fakeCgroups(scheduler, [...parents, ...pods]);
  const logged: string[] = [];
  const say = (_: object, message: string) => logged.push(`${scheduler.now()} ${message}`);
  const running = new Set<string>();
  const options = {
    cgroups: fake.cgroups,
    root: [],
    isPossiblyRunning: (uid: string) => running.has(uid),
    log: { debug: say, info: say, warn: say, error: say },
    scheduler,
  };
  return { ...fake, logged, running, options };
};

it(
  'a cgroup whose pod is not running is destroyed after housekeeping, in any class',
  marbles(({ hot, scheduler, expectObservable, flush }) => {
    const all = ['/kubepods/podone', '/kubepods/burstable/podtwo', '/kubepods/besteffort/podthree'];
    const stage = stageOf(scheduler, [...all, '/kubepods/burstable/podkept', '/kubepods/burstable/other']);
    stage.running.add('kept');
    const housekept$ = hot('--h--h');
    expectObservable(orphanedCgroups({ ...stage.options, housekept$ }), '^------!').toBe('------');
    flush();
    expect(stage.did).toEqual(all.flatMap((path) => [`2 kill ${path}`, `2 remove ${path}`]));
    expect(stage.there).toEqual(new Set(['/', ...parents, '/kubepods/burstable/podkept', '/kubepods/burstable/other']));
  }),
);

it(
  'a pod that arrives after the listing is no orphan, although it was unknown at the time of the listing',
  marbles(({ hot, scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, []);
    const housekept$ = hot('----h---h');
    // Its cgroup is there before its worker is known, which upstream would call an orphan if it looked the other way round.
    scheduler.schedule(() => stage.there.add('/kubepods/podnew'), 3);
    scheduler.schedule(() => stage.running.add('new'), 6);
    expectObservable(orphanedCgroups({ ...stage.options, housekept$ }), '^---------!').toBe('----------');
    flush();
    expect(stage.did).toEqual([]);
  }),
);

it(
  'one that takes long is not tried twice at the same time, and holds no other back',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, ['/kubepods/podslow', '/kubepods/podquick']);
    stage.takes.set('kill /kubepods/podslow', 5_000);
    const housekept$ = timer(2_000, 2_000, scheduler);
    expectObservable(orphanedCgroups({ ...stage.options, housekept$ }), '^ 9s !').toBe('9s -');
    flush();
    expect(stage.did).toEqual([
      '2000 kill /kubepods/podslow',
      '2000 kill /kubepods/podquick',
      '2000 remove /kubepods/podquick',
      '7000 remove /kubepods/podslow',
    ]);
  }),
);

it(
  'what fails is said, and tried again after a later housekeeping',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, ['/kubepods/podstuck']);
    stage.failures.set('remove /kubepods/podstuck', Array<string>(6).fill('EBUSY'));
    const housekept$ = timer(2_000, 2_000, scheduler);
    expectObservable(orphanedCgroups({ ...stage.options, housekept$ }), '^ 7s !').toBe('7s -');
    flush();
    expect(stage.logged).toEqual([
      '2300 the cgroup of a pod that is gone could not be removed',
      '6020 removed the cgroup of a pod that is gone',
    ]);
  }),
);

it(
  'a listing that fails is said and skipped',
  marbles(({ scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, ['/kubepods/podone']);
    let tries = 0;
    const children: typeof stage.cgroups.children = (name) => {
      tries += 1;
      if (tries === 1) throw new Error('EIO');
      return stage.cgroups.children(name);
    };
    const cgroups = { ...stage.cgroups, children };
    const housekept$ = timer(2_000, 2_000, scheduler);
    expectObservable(orphanedCgroups({ ...stage.options, cgroups, housekept$ }), '^ 5s !').toBe('5s -');
    flush();
    expect(stage.logged).toEqual([
      '0 the cgroups of pods could not be listed',
      '4000 removed the cgroup of a pod that is gone',
    ]);
  }),
);

it(
  'one that its worker has removed since the listing is left alone',
  marbles(({ hot, scheduler, expectObservable, flush }) => {
    const stage = stageOf(scheduler, ['/kubepods/podone', '/kubepods/podtwo']);
    const housekept$ = hot('----h');
    scheduler.schedule(() => stage.there.delete('/kubepods/podone'), 2);
    expectObservable(orphanedCgroups({ ...stage.options, housekept$ }), '^-----!').toBe('------');
    flush();
    expect(stage.did).toEqual(['4 kill /kubepods/podtwo', '4 remove /kubepods/podtwo']);
  }),
);
