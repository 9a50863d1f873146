import { of } from 'rxjs';
import { expect, it } from 'vitest';
import { PodWorkerRegistry } from '../../../src/model/pod-workers/pod-worker-registry.js';
import type { RuntimePodStatus } from '../../../src/model/runtime-pod.js';
import { clearNamesakes } from '../../../src/streams/pod-sync/clear-namesakes.js';
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
    const registry = new PodWorkerRegistry();
    const stage = syncStage(aPod({ uid: 'newer' }), scheduler, {
      runtime: {
        stopContainer: () => cold<object>('---(x|)', { x: {} }),
        stopPodSandbox: () => cold<object>('-(x|)', { x: {} }),
      },
    });
    const claim = (uid: string) => registry.claim(uid);
    expectObservable(clearNamesakes(stage.context, reader, { hasStarted: () => false, claim })).toBe('----|');
    scheduler.schedule(() => expect(registry.isClaimed('earlier')).toBe(true), 2);
    scheduler.schedule(() => expect(registry.isClaimed('earlier')).toBe(false), 5);
  }),
);

it(
  'waits for an earlier revision that housekeeping stops already',
  marbles(({ expectObservable, scheduler }) => {
    const registry = new PodWorkerRegistry();
    registry.update({ type: 'kill', runningPod: { ...ref, items: [], observedAt: 0 }, causes: [] }, 0);
    const { context } = syncStage(aPod({ uid: 'newer' }), scheduler);
    const claim = (uid: string) => registry.claim(uid);
    expectObservable(clearNamesakes(context, reader, { hasStarted: () => false, claim })).toBe(
      '#',
      {},
      new Error('another pod of this name is being stopped: web_default(earlier)'),
    );
  }),
);
