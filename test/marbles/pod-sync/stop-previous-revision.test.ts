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
const reader = { readyPods: () => of([ref]), podStatus: () => of(earlier) };

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
      new Error('the former pod of this name is being stopped: web_default(earlier)'),
    );
  }),
);

it.each([
  { case: 'was in another namespace', other: {}, stopped: true },
  { case: 'was on a node of another name', other: { namespace: 'default', name: 'web-old' }, stopped: true },
  { case: 'is another pod of the file', other: { name: 'api-node' }, stopped: false },
  { case: 'is wanted', other: {}, isWanted: true, stopped: false },
  { case: 'may still be delivered by its source', other: {}, isIncomplete: true, stopped: false },
])('stops first, of the pods of the same source, the one that $case: $stopped', (row) => {
  marbles(({ expectObservable, scheduler }) => {
    const stopped: string[] = [];
    const pod = aPod({ uid: 'newer', source: 'file', spec: { nodeName: 'node' } });
    const newer = { ...pod, metadata: { ...pod.metadata, name: 'web-node', namespace: 'default' } };
    const former = { uid: 'earlier', namespace: 'former', name: 'web-node', source: 'file', ...row.other };
    const state = kubeletState({ sources: ['file'] });
    if (row.isWanted) state.apply({ kind: 'pod-set', pod: aPod({ uid: 'earlier', source: 'file' }) });
    if (!row.isIncomplete) state.apply({ kind: 'source-ready', source: 'file' });
    const stage = syncStage(newer, scheduler, {
      runtime: {
        stopContainer: () => of({}),
        stopPodSandbox: () => {
          stopped.push(former.uid);
          return of({});
        },
      },
    });
    const before$ = stopPreviousRevision(stage.context, { ...reader, readyPods: () => of([former]) }, state);
    expectObservable(before$).toBe('|');
    scheduler.schedule(() => expect(stopped).toEqual(row.stopped ? ['earlier'] : []), 1);
  })();
});
