import { defer, EMPTY } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { emptyPodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { plegRequests } from '../../../src/streams/pleg/pleg-requests.js';
import { createPodCache } from '../../../src/streams/pleg/pod-cache.js';
import type { PodRun, PodWork } from '../../../src/streams/pod-workers/pod-workers.js';
import { marbles } from '../marbles.js';

const status = emptyPodStatus({ uid: 'a', namespace: 'default', name: 'a' });

describe('a view of a pod', () => {
  it(
    'that is newer than a time is requested once, and emitted when the PLEG has read it',
    marbles(({ scheduler, expectObservable }) => {
      const cache = createPodCache();
      const { viewRequest$, newerThan } = plegRequests(cache);
      expectObservable(viewRequest$, '---------!').toBe('--r', { r: { uid: 'a', newerThan: 1 } });
      expectObservable(
        defer(() => newerThan('a', 1)),
        '--^------!',
      ).toBe('-----(s|)', { s: status });
      scheduler.schedule(() => cache.set('a', { kind: 'status', status }, 5), 5);
    }),
  );

  it('that is there already is emitted at once, and the PLEG is left alone', () => {
    const cache = createPodCache();
    const { viewRequest$, newerThan } = plegRequests(cache);
    const seen: unknown[] = [];
    cache.set('a', { kind: 'status', status }, 5);
    viewRequest$.subscribe(() => seen.push('request'));
    newerThan('a', 1).subscribe((view) => seen.push(view));
    expect(seen).toEqual([status]);
  });
});

it('a relist that a worker requests covers the events of its own calls: the end of its run requests no other', () => {
  const { relistRequest$, relistSoon, hints, during } = plegRequests(createPodCache());
  const asked: string[] = [];
  relistRequest$.subscribe((uid) => asked.push(uid));
  const ownEvent = () => hints({ kind: 'event', uid: 'a', createdAt: 7n, isCausedByCall: true });
  const runOf = (relists: boolean): void => {
    const syncPod = () =>
      defer(() => {
        ownEvent();
        if (relists) relistSoon('a');
        return EMPTY;
      });
    const work = { syncPod } as unknown as PodWork;
    during(work)
      .syncPod({ uid: 'a' } as PodRun, new AbortController().signal)
      .subscribe();
  };
  runOf(true);
  expect(asked).toEqual(['a']);
  // Without a request of its own the end of the run makes it.
  runOf(false);
  expect(asked).toEqual(['a', 'a']);
});
