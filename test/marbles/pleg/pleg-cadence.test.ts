import { concat, filter, map, NEVER, type Observable, of, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { EVENTED_PLEG, GENERIC_PLEG, type PlegCadence } from '../../../src/model/pleg/pleg.js';
import { pleg, type PlegOptions } from '../../../src/streams/pleg/pleg.js';
import { createPodCache } from '../../../src/streams/pleg/pod-cache.js';
import { type Answer, fakePods } from '../fake-pods.js';
import { marbles } from '../marbles.js';

interface Setup extends Pick<PlegOptions, 'hint$' | 'relistRequest$' | 'observe'> {
  readonly cadence$?: Observable<PlegCadence>;
  readonly list?: () => Answer;
  readonly read?: (uid: string) => Answer;
}
const evented$ = concat(of(EVENTED_PLEG), NEVER);
const setup = (scheduler: SchedulerLike, { list, read, cadence$ = evented$, ...options }: Setup = {}) => {
  const runtime = fakePods(scheduler, { ...(list ? { list } : {}), ...(read ? { read } : {}) });
  const cache = createPodCache();
  const event$ = pleg({ reader: runtime.reader, cache, scheduler, cadence$, ...options });
  const asked = (what: 'list' | 'read') =>
    runtime.asked.flatMap((line) => (line.split(' ')[1] === what ? [Number(line.split(' ')[0])] : []));
  return { runtime, cache, asked, silent$: event$.pipe(filter(() => false)) };
};
const SECOND = 1_000;

describe('while events report what happens', () => {
  it(
    'everything is listed at once, and then every five minutes',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { asked, silent$ } = setup(scheduler, { list: () => 2 });
      expectObservable(silent$, '11m !').toBe('-');
      flush();
      expect(asked('list')).toEqual([0, 300_002, 600_004]);
    }),
  );

  it(
    'a pod without events counts as looked at every five seconds',
    marbles(({ cold, expectObservable, scheduler }) => {
      const { runtime, cache, silent$ } = setup(scheduler);
      runtime.put('a', 'c', 'running');
      expectObservable(silent$, '20s !').toBe('-');
      const newer$ = concat(cold<never>('7s |'), cache.newerThan('a', 7 * SECOND)).pipe(map(() => 'n'));
      expectObservable(newer$).toBe('10s (n|)');
    }),
  );

  it(
    'but not one that is due to be read, or being read',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const hint$ = hot('4s h', { h: 'a' });
      let reads = 0;
      const { runtime, cache, silent$ } = setup(scheduler, { hint$, read: () => (reads++ === 0 ? 0 : 8 * SECOND) });
      runtime.put('a', 'c', 'running');
      expectObservable(silent$, '20s !').toBe('-');
      // The read of 4 s comes at 12 s; the tick of 10 s says nothing about the pod.
      const newer$ = concat(cold<never>('3s |'), cache.newerThan('a', 3 * SECOND)).pipe(map(() => 'n'));
      expectObservable(newer$).toBe('12s (n|)');
    }),
  );

  it(
    'and none while the last listing failed; that is made again after a second',
    marbles(({ expectObservable, flush, scheduler }) => {
      const answers: Answer[] = [...Array.from({ length: 7 }, (): Answer => 'error'), 0];
      const { cache, asked, silent$ } = setup(scheduler, { list: () => answers.shift() ?? 0 });
      expectObservable(silent$, '60s !').toBe('-');
      // The tick of 5 s would have let it pass.
      expectObservable(cache.newerThan('a', 3 * SECOND).pipe(map(() => 'n'))).toBe('7s (n|)');
      flush();
      expect(asked('list')).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((s) => s * SECOND));
    }),
  );

  it(
    'a pod that could not be read is read again after a second, not after five minutes',
    marbles(({ expectObservable, flush, scheduler }) => {
      const answers: Answer[] = ['error', 'error'];
      const { runtime, asked, silent$ } = setup(scheduler, { read: () => answers.shift() ?? 0 });
      runtime.put('a', 'c', 'running');
      expectObservable(silent$, '60s !').toBe('-');
      flush();
      expect(asked('read')).toEqual([0, SECOND, 2 * SECOND]);
    }),
  );
});

describe('a change of the cadence', () => {
  it(
    'lists at once, and gives up a listing that is under way',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const cadence$ = hot('g 1999ms e 9999ms g', { g: GENERIC_PLEG, e: EVENTED_PLEG });
      const answers: Answer[] = [0, 'never', 0, 0];
      const { asked, silent$ } = setup(scheduler, { cadence$, list: () => answers.shift() ?? 0 });
      expectObservable(silent$, '14s !').toBe('-');
      flush();
      // Every second; the listing of 1 s hangs. The events are there at 2 s and break at 12.
      expect(asked('list')).toEqual([0, 1, 2, 12, 13].map((s) => s * SECOND));
    }),
  );

  it(
    'to the same one does so, too: another failure of the events is a reason to relist',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const cadence$ = hot('e-e--e', { e: EVENTED_PLEG });
      const { asked, silent$ } = setup(scheduler, { cadence$ });
      expectObservable(silent$, '10ms !').toBe('-');
      flush();
      expect(asked('list')).toEqual([0, 2, 5]);
    }),
  );
});

it(
  'what runs is counted with every read that shows a change',
  marbles(({ hot, expectObservable, flush, scheduler }) => {
    const counts: unknown[] = [];
    const hint$ = hot('-h', { h: 'a' });
    const { runtime, silent$ } = setup(scheduler, {
      hint$,
      observe: (seen) => {
        if (seen.kind === 'changed') counts.push([seen.pods, seen.containers]);
      },
    });
    runtime.put('a', 's1', 'running');
    runtime.put('a', 'c1', 'running');
    runtime.put('b', 'c2', 'exited');
    scheduler.schedule(() => runtime.put('a', 'c1', 'exited'), 1);
    expectObservable(silent$, '5ms !').toBe('-');
    flush();
    expect(counts).toEqual([
      [1, { running: 1 }],
      [1, { running: 1, exited: 1 }],
      [1, { exited: 2 }],
    ]);
  }),
);
