import { of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CONTAINER_GC } from '../../../src/model/upkeep/container-gc.js';
import type { PlegEvent } from '../../../src/model/pleg/pleg.js';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { expectLanes, linesOf } from '../lanes.js';
import { noFiles } from '../../support/sync-context.js';
import { away, died, item, played, podWith, reclaimed, type Scene } from './garbage-stage.js';

describe('after the death of a container', () => {
  const instances: RuntimePodStatus = aRuntimeStatus([
    aContainer({ name: 'main', id: 'c3', state: 'exited' }),
    aContainer({ name: 'main', id: 'c2', state: 'exited' }),
    aContainer({ name: 'other', id: 'x', state: 'exited' }),
    aContainer({ name: 'main', id: 'c1', state: 'exited' }),
  ]);

  it.each<{ case: string; scene: Scene; removed: readonly string[] }>([
    { case: 'all but its newest instance go', scene: {}, removed: ['c2', 'c1'] },
    {
      case: 'all of its pod are removed when no source wants that',
      scene: { gone: ['a'] },
      removed: ['c3', 'c2', 'x', 'c1'],
    },
    {
      case: 'one stays, though the policy keeps none',
      scene: { policy: { ...DEFAULT_CONTAINER_GC, maxPerPodContainer: 0 } },
      removed: ['c2', 'c1'],
    },
    {
      case: 'two stay if the policy says so',
      scene: { policy: { ...DEFAULT_CONTAINER_GC, maxPerPodContainer: 2 } },
      removed: ['c1'],
    },
    {
      case: 'all stay if the policy keeps all',
      scene: { policy: { ...DEFAULT_CONTAINER_GC, maxPerPodContainer: -1 } },
      removed: [],
    },
    { case: 'nothing goes of a pod that is not known', scene: { statusOf: () => undefined }, removed: [] },
  ])('$case', ({ scene, removed }) => {
    const { calls } = played(() => ({ statusOf: () => instances, pleg$: of(died), ...scene }), 10);
    expect(calls.filter((line) => line.includes('remove'))).toEqual(removed.map((id) => `0 remove ${id}`));
  });

  it('of a pod that was evicted are removed, the newest ones too, but not what runs', () => {
    const found = aRuntimeStatus([...instances.containers, aContainer({ id: 'running', name: 'other' })]);
    const { calls } = played(() => ({ statusOf: () => found, evicted$: of('a') }), 10);
    const removed = calls.filter((call) => call.includes(' remove ')).map((call) => call.split(' ').at(-1));
    expect(removed).toEqual(['c3', 'c2', 'x', 'c1']);
  });

  it('one is trimmed after the other, and other events trim nothing', () => {
    const other: PlegEvent = { ...died, type: 'ContainerStarted' };
    const { calls } = played(() => ({ statusOf: () => instances, pleg$: of(other, died, died), callMs: 5 }), 100);
    expect(calls.filter((line) => line.includes('remove'))).toEqual([
      '0 remove c2',
      '5 remove c1',
      '10 remove c2',
      '15 remove c1',
    ]);
  });

  it('as many as 50 wait for their turn; the rest is left to the next minute', () => {
    const many = aRuntimeStatus(
      Array.from({ length: 60 }, (_, index) => aContainer({ name: 'main', id: `c${index}`, state: 'exited' })),
    );
    const { calls, logged } = played(() => ({ statusOf: () => many, pleg$: of(died), callMs: 1 }), 100);
    const removals = linesOf(calls, 'remove');
    // The newest is kept, and 51 are taken on: one at once, 50 after it.
    expect(removals.map((line) => line.split(' ').at(-1))).toEqual(
      Array.from({ length: 51 }, (_, index) => `c${index + 1}`),
    );
    expectLanes(removals, { everyMs: 1 }).toBe({ remove: 'rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr' });
    expect(logged).toEqual(Array<string>(8).fill('a dead container is left to the next collection'));
  });
});

describe('on a node that is short of disk space', () => {
  const pods = [
    podWith('job', item('job', { createdAt: 2n })),
    podWith('gone', item('gone', { createdAt: 1n })),
    podWith('web', item('web', { createdAt: 3n })),
  ];

  it('what is left of pods that have ended goes at once, though a source still wants them', () => {
    expect(reclaimed({ pods, gone: ['gone'], ended: ['job'], files: noFiles })).toEqual([
      '0 remove gone',
      '0 remove job',
    ]);
  });

  it('nothing of them goes before every source has sent its pods', () => {
    expect(reclaimed({ pods, gone: ['gone'], ended: ['job'], files: noFiles, areSourcesReady: false })).toEqual([]);
  });

  it('a listing that fails is an error, after the other steps', () => {
    expect(reclaimed({ reader: { listPods: () => throwError(() => away) } })).toEqual([away.message]);
  });
});
