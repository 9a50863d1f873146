import { of } from 'rxjs';
import { expect, it } from 'vitest';
import type { RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { stopPreviousRevision } from '../../../src/streams/pod-sync/stop-previous-revision.js';
import type { PodRef } from '../../../src/model/pod/pod.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from '../../support/a-runtime-status.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const earlier: RuntimePodStatus = { ...aRuntimeStatus([aContainer({ name: 'main' })], [aSandbox()]), uid: 'earlier' };
const ref = { uid: 'earlier', namespace: 'default', name: 'web' };
const SOURCE = (source: string) => ({ 'kubernetes.io/config.source': source });
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
    state.workers.update({ type: 'kill', runningPod, causes: [] }, 0);
    const { context } = syncStage(aPod({ uid: 'newer' }), scheduler);
    expectObservable(stopPreviousRevision(context, reader, state)).toBe(
      '#',
      {},
      new Error('another pod of this name is being stopped: web_default(earlier)'),
    );
  }),
);

it.each([
  { case: 'was in another namespace', other: {}, stopped: true },
  { case: 'was on a node of another name', other: { namespace: 'default', name: 'web-old' }, stopped: true },
  { case: 'is another pod of the file', other: { name: 'api-node' }, reads: 0, stopped: false },
  { case: 'is wanted', other: {}, isWanted: true, reads: 0, stopped: false },
  { case: 'may still be delivered by its source', other: {}, isIncomplete: true, reads: 0, stopped: false },
  { case: 'had stopped when it was listed', other: {}, listedAs: 'exited' as const, reads: 0, stopped: false },
  { case: 'has stopped since', other: {}, sandbox: { state: 'SANDBOX_NOTREADY' as const }, reads: 1, stopped: false },
  { case: 'came from another source', other: {}, sandbox: { annotations: SOURCE('http') }, reads: 1, stopped: false },
  { case: 'came from no known source', other: {}, sandbox: { annotations: {} }, reads: 1, stopped: false },
])('stops first, of the listed pods, the one of the same source that $case: $stopped', (row) => {
  marbles(({ expectObservable, scheduler }) => {
    const stopped: string[] = [];
    const reads: string[] = [];
    const pod = aPod({ uid: 'newer', source: 'file', spec: { nodeName: 'node' } });
    const newer = { ...pod, metadata: { ...pod.metadata, name: 'web-node', namespace: 'default' } };
    const former = { uid: 'earlier', namespace: 'former', name: 'web-node', ...row.other };
    const sandbox = aSandbox({ annotations: SOURCE('file'), ...row.sandbox });
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
    const readerOfNone = {
      readyPodsCalled: () => of([]),
      podStatus: ({ uid }: PodRef) => {
        reads.push(uid);
        const containers = row.sandbox && 'state' in row.sandbox ? [] : [aContainer({ name: 'main' })];
        return of({ ...aRuntimeStatus(containers, [sandbox]), ...former });
      },
    };
    const item = { ...{ kind: 'sandbox' as const, id: 'sandbox', name: '', sandboxId: 'sandbox' }, attempt: 0 };
    const items = [{ ...item, state: row.listedAs ?? ('running' as const), createdAt: 1n }];
    const listed = [{ ...former, items, observedAt: 0 }];
    expectObservable(stopPreviousRevision(stage.context, readerOfNone, state, () => listed)).toBe('|');
    scheduler.schedule(() => {
      expect(stopped).toEqual(row.stopped ? ['earlier'] : []);
      expect(reads).toHaveLength(row.reads ?? 2);
    }, 1);
  })();
});
