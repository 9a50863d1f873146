import { filter, map, of, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { emptyPodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { pleg, type PlegOptions } from '../../../src/streams/pleg/pleg.js';
import { createPodCache } from '../../../src/streams/pleg/pod-cache.js';
import { type Answer, fakePods } from '../fake-pods.js';
import { every } from '../cadences.js';
import { inTurn, marbles } from '../marbles.js';

interface Setup extends Pick<PlegOptions, 'hint$' | 'relistRequest$' | 'viewRequest$'> {
  readonly read: (uid: string) => Answer;
  readonly periodMs?: number;
  readonly observe?: PlegOptions['observe'];
}
const setup = (scheduler: SchedulerLike, { read, periodMs, ...options }: Setup) => {
  const runtime = fakePods(scheduler, { read });
  const event$ = pleg({
    reader: runtime.reader,
    cache: createPodCache(),
    scheduler,
    ...options,
    ...(periodMs === undefined ? {} : { cadence$: every(periodMs) }),
  });
  return { runtime, summary$: event$.pipe(map(({ pod: { uid }, type }) => `${uid} ${type}`)) };
};

describe('many reads', () => {
  const readsAt = (asked: readonly string[]): Readonly<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const line of asked) {
      const [ms = '', what] = line.split(' ');
      if (what === 'read') counts[ms] = (counts[ms] ?? 0) + 1;
    }
    return counts;
  };

  it(
    'go out ten at a time, the first ones of an agent as well',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { runtime, summary$ } = setup(scheduler, { read: () => 100 });
      for (let pod = 0; pod < 25; pod += 1) runtime.put(`p${pod}`, 'c', 'running');
      expectObservable(summary$.pipe(filter(() => false)), '900ms !').toBe('-');
      flush();
      expect(readsAt(runtime.asked)).toEqual({ 0: 10, 100: 10, 200: 5 });
    }),
  );

  it(
    'wait a second at most for ten that hang',
    marbles(({ expectObservable, flush, scheduler }) => {
      const read = (uid: string): Answer => (uid.startsWith('hanging') ? 'never' : 100);
      const { runtime, summary$ } = setup(scheduler, { periodMs: 60_000, read });
      for (let pod = 0; pod < 10; pod += 1) runtime.put(`hanging${pod}`, 'c', 'running');
      runtime.put('well', 'c', 'running');
      expectObservable(summary$, '2s !').toBe('1100ms w', { w: 'well ContainerStarted' });
      flush();
      expect(readsAt(runtime.asked)).toEqual({ 0: 10, 1_000: 1 });
    }),
  );

  it(
    'answer what was reported and asked of a pod while it waited',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const hint$ = hot('---x--x-', { x: 'late' });
      const read = (uid: string): Answer => (uid === 'late' ? 5 : 10);
      const { runtime, summary$ } = setup(scheduler, { periodMs: 2, read, hint$ });
      for (let pod = 0; pod < 10; pod += 1) runtime.put(`p${pod}`, 'c', 'running');
      runtime.put('late', 'c', 'running');
      expectObservable(summary$.pipe(filter((text) => text.startsWith('late'))), '30ms !').toBe('15ms s', {
        s: 'late ContainerStarted',
      });
      flush();
      expect(runtime.asked.filter((line) => line.endsWith('late'))).toEqual(['10 read late']);
    }),
  );
});

describe('a listing that leaves out what ran', () => {
  it(
    'is not believed before the runtime was asked for it by its id',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { runtime } = setup(scheduler, { read: () => 0 });
      runtime.put('a', 'c', 'running');
      const full$ = runtime.reader.listPods('all');
      const empty$ = of([]);
      const listing$ = inTurn(full$, empty$, empty$, empty$);
      const lookedFor: (readonly string[])[] = [];
      const reader: PlegOptions['reader'] = {
        listPods: () => listing$,
        podStatus: (ref, ran = []) => {
          lookedFor.push(ran.map(({ kind, id }) => `${kind} ${id}`));
          // From the fourth listing on it is really gone.
          return scheduler.now() < 3_000
            ? runtime.reader.podStatus(ref)
            : of(emptyPodStatus({ uid: 'a', namespace: '', name: '' }));
        },
      };
      const event$ = pleg({ reader, cache: createPodCache(), scheduler });
      expectObservable(event$.pipe(map(({ type }) => type)), '3500ms !').toBe('s 2999ms (dr)', {
        s: 'ContainerStarted',
        d: 'ContainerDied',
        r: 'ContainerRemoved',
      });
      flush();
      expect(lookedFor).toEqual([[], ['container c'], ['container c'], ['container c']]);
    }),
  );
});

describe('a wish for a newer view', () => {
  it(
    'has its pod read, unless a read in flight was asked for late enough',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const relistRequest$ = hot('--a-----------', { a: 'a' });
      const viewRequest$ = hot('  ---a---cb-----', {
        a: { uid: 'a', newerThan: 1 },
        c: { uid: 'a', newerThan: 6 },
        // The read in flight was asked for at 7, which is not later.
        b: { uid: 'a', newerThan: 7 },
      });
      const { runtime, summary$ } = setup(scheduler, { relistRequest$, viewRequest$, read: () => 3 });
      scheduler.schedule(() => runtime.put('a', 'c', 'running'), 1);
      expectObservable(summary$, '--------------!').toBe('-----s', { s: 'a ContainerStarted' });
      flush();
      expect(runtime.asked).toEqual(['0 list', '2 read a', '7 read a', '10 read a']);
    }),
  );
});

it(
  'a read that takes ten seconds is reported while it is under way, once; the others go on',
  marbles(({ hot, expectObservable, flush, scheduler }) => {
    const late: string[] = [];
    const observe: PlegOptions['observe'] = (seen) => {
      if (seen.kind === 'pod-read-late') late.push(`${seen.uid} ${scheduler.now()}`);
    };
    const read = (uid: string): Answer => (uid === 'hanging' ? 'never' : 2);
    const hint$ = hot('30s h', { h: 'well' });
    const { runtime, summary$ } = setup(scheduler, { periodMs: 300_000, read, hint$, observe });
    runtime.put('hanging', 'c', 'running');
    runtime.put('well', 'c', 'running');
    scheduler.schedule(() => runtime.put('well', 'c', 'exited'), 29_000);
    const values = { s: 'well ContainerStarted', d: 'well ContainerDied' };
    expectObservable(summary$, '60s !').toBe('2ms s 29999ms d', values);
    flush();
    expect(late).toEqual(['hanging 10000']);
  }),
);
