import { EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { measuredCgroups } from '../../../src/streams/cgroups/measured-cgroups.js';
import { type Cgroups } from '../../../src/streams/ports/cgroups.js';
import { marbles } from '../marbles.js';

describe('the duration of a change of a cgroup', () => {
  it(
    'is counted at its end, also of a failed or a cancelled one',
    marbles(({ cold, expectObservable, scheduler, flush }) => {
      const counted: string[] = [];
      const cgroups = measuredCgroups(
        {
          create: () => cold('-w-|'),
          update: () => cold('--#'),
          remove: () => cold('----|'),
          kill: () => EMPTY,
        } as unknown as Cgroups,
        { metrics: { cgroupOperation: (operation, seconds) => counted.push(`${operation} ${seconds}`) }, scheduler },
      );
      expectObservable(cgroups.create(['a'], {})).toBe('-w-|');
      expectObservable(cgroups.update(['a'], {})).toBe('--#');
      expectObservable(cgroups.remove(['a'])).toBe('     ----|');
      expectObservable(cgroups.remove(['b']), '            ^-----!').toBe('----|');
      expectObservable(cgroups.remove(['c']), '            ^!').toBe('');
      flush();
      expect(counted.toSorted()).toEqual([
        'create 0.003',
        'destroy 0.001',
        'destroy 0.004',
        'destroy 0.004',
        'update 0.002',
      ]);
    }),
  );
});
