import { mergeMap, NEVER, of, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import { toRuntimePodStatus } from '../../../src/model/cri/runtime-pod-status.js';
import { createPodCache, type PodCache } from '../../../src/streams/pleg/pod-cache.js';
import { runningPods, runningPodsInCache } from '../../../src/streams/sync-loop/running-pods.js';
import { aSandboxStatus } from '../../unit/cri-fixtures.js';
import { marbles } from '../marbles.js';

describe('the pods that run, by listings', () => {
  const item = (state: 'running' | 'exited') =>
    ({ kind: 'sandbox', id: state, name: '', state, createdAt: 0n, sandboxId: state, attempt: 0 }) as const;
  const aRunningPod = (state: 'running' | 'exited'): RuntimePod => ({
    uid: state,
    name: '',
    namespace: '',
    observedAt: 0,
    items: [item(state)],
  });
  const [up, down] = [aRunningPod('running'), aRunningPod('exited')];

  it(
    'come from the next relist',
    marbles(({ hot, expectObservable, scheduler }) => {
      const listing$ = hot<readonly RuntimePod[]>('---l---m', { l: [down, up], m: [] });
      expectObservable(runningPods(listing$, () => NEVER, scheduler)).toBe('---(u|)', { u: [up] });
    }),
  );

  it(
    'are not those of a relist that was under way already',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const fresh: RuntimePod = { ...up, observedAt: 4 };
      const listing$ = hot<readonly RuntimePod[]>('---s---f', { s: [{ ...up, observedAt: 1 }], f: [fresh] });
      const tick$ = cold('--t').pipe(
        mergeMap(() => runningPods(listing$, () => NEVER, scheduler)),
        take(1),
      );
      expectObservable(tick$).toBe('-------(f|)', { f: [fresh] });
    }),
  );

  it(
    'are asked for after 1.5 s without a relist',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const list = cold<readonly RuntimePod[]>('--(u|)', { u: [up] });
      expectObservable(runningPods(NEVER, () => list, scheduler)).toBe('1502ms (u|)', { u: [up] });
      expectSubscriptions(list.subscriptions).toBe('1500ms ^-!');
    }),
  );
});

describe('the pods that run, by the cache', () => {
  const fresh: RuntimePod = { uid: 'fresh', name: '', namespace: '', observedAt: 0, items: [] };
  const list = () => of([fresh]);
  const put = (cache: PodCache, uid: string, state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY') => {
    const ref = { uid, namespace: 'ns', name: `name-${uid}` };
    const status = toRuntimePodStatus(ref, [aSandboxStatus(uid, `s-${uid}`, { state })], []);
    cache.set(uid, { kind: 'status', status }, 7);
  };
  const namesOf = (
    cache: PodCache,
    isWorkedOn: (uid: string) => boolean,
    unread: () => readonly string[] | undefined = () => [],
  ): readonly string[] => {
    const names: string[] = [];
    runningPodsInCache({ cache, unread, isWorkedOn, list }).subscribe((pods) =>
      names.push(...pods.map(({ uid }) => uid)),
    );
    return names;
  };

  it('are those that ran when they were last read', () => {
    const cache = createPodCache();
    put(cache, 'up', 'SANDBOX_READY');
    put(cache, 'down', 'SANDBOX_NOTREADY');
    expect(namesOf(cache, (uid) => uid === 'up')).toEqual(['up']);
  });

  it('are listed when one without a worker runs, as it may have stopped meanwhile', () => {
    const cache = createPodCache();
    put(cache, 'up', 'SANDBOX_READY');
    expect(namesOf(cache, () => false)).toEqual(['fresh']);
  });

  it('are listed when one could not be read', () => {
    const cache = createPodCache();
    cache.set('unread', { kind: 'error', error: new Error('fake') }, 7);
    expect(namesOf(cache, () => true)).toEqual(['fresh']);
  });

  it('are listed before the first relist, and until each pod of a relist has been read', () => {
    const cache = createPodCache();
    put(cache, 'up', 'SANDBOX_READY');
    const isWorkedOn = () => true;
    expect(namesOf(cache, isWorkedOn, () => undefined)).toEqual(['fresh']);
    const unread = () => ['up', 'other'];
    expect(namesOf(cache, isWorkedOn, unread)).toEqual(['fresh']);
    put(cache, 'other', 'SANDBOX_READY');
    expect(namesOf(cache, isWorkedOn, unread)).toEqual(['up', 'other']);
  });
});
