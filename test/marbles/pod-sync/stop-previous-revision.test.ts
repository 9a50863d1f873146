import { of } from 'rxjs';
import { expect, it } from 'vitest';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { stopPreviousRevision } from '../../../src/streams/pod-sync/stop-previous-revision.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const earlier: RuntimePodStatus = { ...aRuntimeStatus([aContainer({ name: 'main' })], [aSandbox()]), uid: 'earlier' };
const ref = { uid: 'earlier', namespace: 'default', name: 'web' };
const reader = { readyPodsCalled: () => of([ref]), podStatus: () => of(earlier) };

it(
  'keeps an earlier revision of a pod to itself as long as it stops it',
  marbles(({ cold, expectObservable, scheduler }) => {
    const state = kubeletState();
    const stage = syncStage(aPod({ uid: 'newer' }), scheduler, {
      runtime: {
        stopContainer: () => cold<object>('---(x|)', { x: {} }),
        stopPodSandbox: () => cold<object>('-(x|)', { x: {} }),
      },
    });
    expectObservable(stopPreviousRevision(stage.context, reader, state)).toBe('----|');
    scheduler.schedule(() => expect(state.workers.isKillReserved('earlier')).toBe(true), 2);
    scheduler.schedule(() => expect(state.workers.isKillReserved('earlier')).toBe(false), 5);
  }),
);

it(
  'waits for an earlier revision that housekeeping stops already',
  marbles(({ expectObservable, scheduler }) => {
    const state = kubeletState();
    const runningPod = { ...ref, items: [], observedAt: 0 };
    state.apply({ kind: 'worker-update', update: { type: 'kill', runningPod, causes: [] }, now: 0 });
    const { context } = syncStage(aPod({ uid: 'newer' }), scheduler);
    expectObservable(stopPreviousRevision(context, reader, state)).toBe(
      '#',
      {},
      new Error('another pod of this name is being stopped: web_default(earlier)'),
    );
  }),
);
