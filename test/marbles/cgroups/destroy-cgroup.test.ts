import { expect, it } from 'vitest';
import { destroyCgroup } from '../../../src/streams/cgroups/destroy-cgroup.js';
import { fakeCgroups } from '../../support/fake-cgroups.js';
import { marbles } from '../marbles.js';

const POD = ['kubepods', 'pod1'];

it(
  'kills what is in a cgroup before it removes it',
  marbles(({ scheduler, expectObservable, flush }) => {
    const fake = fakeCgroups(scheduler, ['/kubepods', '/kubepods/pod1', '/kubepods/pod1/container']);
    fake.takes.set('kill /kubepods/pod1', 3);
    expectObservable(destroyCgroup(fake.cgroups, POD, scheduler)).toBe('---|');
    flush();
    expect(fake.did).toEqual(['0 kill /kubepods/pod1', '3 remove /kubepods/pod1']);
    expect([...fake.there]).toEqual(['/', '/kubepods']);
  }),
);

it(
  'kills and removes again while it is busy, 20, 40, 80 and 160 ms apart, five times in all',
  marbles(({ scheduler, expectObservable, flush }) => {
    const fake = fakeCgroups(scheduler, ['/kubepods/pod1']);
    fake.failures.set('remove /kubepods/pod1', Array<string>(5).fill('EBUSY'));
    expectObservable(destroyCgroup(fake.cgroups, POD, scheduler)).toBe('300ms #', undefined, new Error('EBUSY'));
    flush();
    expect(fake.did.filter((line) => line.includes('remove')).map((line) => Number.parseInt(line, 10))).toEqual([
      0, 20, 60, 140, 300,
    ]);
    expect(fake.did.filter((line) => line.includes('kill'))).toHaveLength(5);
  }),
);

it(
  'is done as soon as one round succeeds',
  marbles(({ scheduler, expectObservable }) => {
    const fake = fakeCgroups(scheduler, ['/kubepods/pod1']);
    fake.failures.set('kill /kubepods/pod1', ['EPERM']);
    fake.failures.set('remove /kubepods/pod1', ['EBUSY']);
    expectObservable(destroyCgroup(fake.cgroups, POD, scheduler)).toBe('60ms |');
  }),
);
