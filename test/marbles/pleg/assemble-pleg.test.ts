import { of, Subject, timer } from 'rxjs';
import { map } from 'rxjs';
import { expect, it } from 'vitest';
import { createPodCache } from '../../../src/streams/pleg/pod-cache.js';
import type { ViewRequest } from '../../../src/streams/pleg/pleg.js';
import { assemblePleg } from '../../../src/streams/pleg/assemble-pleg.js';
import { runtimeHealth } from '../../../src/streams/runtime-health/runtime-health.js';
import { emptyPodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { fakeRuntime } from '../../support/fake-runtime.js';
import { loopStage } from '../../support/loop-stage.js';
import { marbles } from '../marbles.js';

it(
  'takes nothing that is said of all pods for news of one that its worker has just changed',
  marbles(({ scheduler }) => {
    const cache = createPodCache();
    const relistRequest$ = new Subject<string>();
    const reads: number[] = [];
    const { context } = loopStage({ scheduler });
    const { runtime } = fakeRuntime(scheduler);
    const { pleg$ } = assemblePleg({
      context,
      runtime,
      reader: {
        listPods: () => of([]),
        readyPodsCalled: () => of([]),
        podStatus: (ref) => {
          reads.push(scheduler.now());
          return timer(5, scheduler).pipe(map(() => emptyPodStatus(ref)));
        },
      },
      cache,
      requests: { relistRequest$, viewRequest$: new Subject<ViewRequest>(), hints: () => [] },
      health: runtimeHealth({ ...context, runtime }),
      eventedPleg: false,
    });
    const seen: number[] = [];
    const running = pleg$.subscribe();
    scheduler.schedule(() => {
      relistRequest$.next('web');
      cache.newerThan('web', 100).subscribe(() => seen.push(scheduler.now()));
      // A listing that was asked for a moment later, or the tick of the cache, before the request has made its hop.
      cache.updateTime(101);
      expect(seen).toEqual([]);
    }, 100);
    scheduler.schedule(() => running.unsubscribe(), 500);
    scheduler.flush();
    expect(reads).toEqual([100]);
    expect(seen).toEqual([105]);
  }),
);
