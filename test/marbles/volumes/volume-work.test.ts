import { from, NEVER } from 'rxjs';
import { expect, it } from 'vitest';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { volumeWork } from '../../../src/streams/volumes/volume-work.js';
import { aPod } from '../../support/a-pod.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

it(
  'an operation that throws at once is a failed attempt, and waits like any other',
  marbles(({ scheduler }) => {
    const history: string[] = [];
    const state = kubeletState();
    state.apply({ kind: 'volumes-wanted', pod: aPod({ uid: 'u' }), volumes: [{ name: 'v', emptyDir: {} }] });
    const work = volumeWork({
      state,
      setUp: () => {
        history.push(`${scheduler.now()} mount`);
        if (history.length > 20) return NEVER;
        throw new Error('no');
      },
      tearDown: () => NEVER,
      failed: () => undefined,
      scheduler,
    });
    from(work({ uid: 'u', volume: 'v' }, new AbortController().signal)).subscribe();
    scheduler.maxFrames = 4_000;
    scheduler.flush();
    expectLanes(history, { everyMs: 500 }).toBe({ mount: 'mm-m---m' });
    expect(state.volumes.failures('u', 'v')).toBe(4);
  }),
);
