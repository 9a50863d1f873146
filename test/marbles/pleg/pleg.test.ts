import { map, merge, mergeMap, of, tap, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { GENERIC_PLEG, plegHealth } from '../../../src/model/pleg/pleg.js';
import { pleg } from '../../../src/streams/pleg/pleg.js';
import type { PlegObservation } from '../../../src/streams/pleg/pleg-observation.js';
import { at } from '../fake-pods.js';
import { every } from '../cadences.js';
import { inTurn, marbles } from '../marbles.js';
import { setup, summary, turns } from './pleg-stage.js';

describe('relists', () => {
  it(
    'at once, and then a period after each listing ended, failed ones too',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const { cache } = setup(scheduler);
      const [slow$, failing$, quick$] = [cold('---(l|)', { l: [] }), cold<never[]>('--#'), cold('(l|)', { l: [] })];
      const lists = inTurn(slow$, failing$, quick$, quick$);
      const reader = { listPods: () => lists, podStatus: () => cold<never>('#') };
      expectObservable(pleg({ reader, cache, scheduler, cadence$: every(4) }), '----------------!').toBe('-');
      expectSubscriptions(slow$.subscriptions).toBe('  ^--!');
      expectSubscriptions(failing$.subscriptions).toBe('-------^-!');
      expectSubscriptions(quick$.subscriptions).toBe(['-------------(^!)']);
    }),
  );

  it(
    'every second by default, however long the reads take',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { runtime, summary$ } = setup(scheduler, { read: () => 2_500 });
      runtime.put('a', 'c', 'running');
      expectObservable(summary$, '3400ms !').toBe('2500ms s', { s: 'a c Started' });
      flush();
      expect(runtime.asked).toEqual(['0 list', '0 read a', '1000 list', '2000 list', '3000 list']);
    }),
  );

  it(
    'is unhealthy before the first listing, and when the last one is older than the threshold',
    marbles(({ expectObservable, flush, scheduler }) => {
      let lastRelistAt: number | undefined;
      const observe = (observation: PlegObservation) => {
        if (observation.kind === 'relist' && observation.pods) lastRelistAt = observation.at;
      };
      const { event$ } = setup(scheduler, { observe, list: turns(500, 'error', 100, 'never') });
      // Asked at 0 for 500, failed at 1500, asked at 2500 for 100, and then never again.
      const health$ = of(499, 500, 182_500, 182_501).pipe(
        mergeMap((ms) => timer(ms, scheduler)),
        map(() => plegHealth(lastRelistAt, scheduler.now(), GENERIC_PLEG.thresholdMs).healthy),
      );
      expectObservable(event$, '183s !').toBe('-');
      expectObservable(health$).toBe('499ms ft 181999ms t(f|)', { f: false, t: true });
      flush();
      expect(lastRelistAt).toBe(2_500);
    }),
  );

  it(
    'are observed with their duration and interval',
    marbles(({ expectObservable, flush, scheduler }) => {
      const observed: string[] = [];
      const observe = (observation: PlegObservation) => {
        if (observation.kind === 'changed' || observation.kind === 'pod-read-late') return;
        const { kind, at: asked, durationMs } = observation;
        const interval = observation.kind === 'relist' ? ` ${observation.intervalMs ?? 'first'}` : '';
        observed.push(`${kind} ${asked} ${durationMs}${interval}${observation.error === undefined ? '' : ' failed'}`);
      };
      const read = turns(2, 'error', 1);
      const { runtime, event$ } = setup(scheduler, { observe, periodMs: 10, list: turns(3, 'error', 0), read });
      runtime.put('a', 'c', 'running');
      const change$ = at(scheduler, { 15: () => runtime.put('a', 'c', 'exited') });
      expectObservable(merge(event$.pipe(mergeMap(() => [])), change$), '40ms !').toBe('-');
      flush();
      expect(observed).toEqual([
        'relist 0 3 first',
        'pod-read 3 2',
        'relist 13 0 13 failed',
        'relist 23 0 23',
        'pod-read 23 0 failed',
        'relist 33 0 10',
        'pod-read 33 1',
      ]);
    }),
  );
});

describe('events', () => {
  it(
    'emit what changed from one listing to the next, with the cache filled first',
    marbles(({ expectObservable, scheduler }) => {
      const { runtime, cache, event$ } = setup(scheduler, { periodMs: 4 });
      const seen$ = event$.pipe(
        map((event) => {
          const reading = cache.get(event.pod.uid);
          const cached = reading.kind === 'status' ? reading.status.containers.map(({ state }) => state).join() : '';
          return `${summary(event)}, cached ${cached}`;
        }),
      );
      const change$ = at(scheduler, {
        1: () => (runtime.put('a', 'sandbox', 'running'), runtime.put('a', 'c', 'running')),
        5: () => runtime.put('a', 'c', 'exited'),
        9: () => runtime.put('a', 'c'),
        13: () => runtime.put('a', 'sandbox'),
      });
      expectObservable(merge(change$, seen$), '-------------------------!').toBe('----(st)d---r---(xy)', {
        s: 'a sandbox Started, cached running',
        t: 'a c Started, cached running',
        d: 'a c Died, cached exited',
        r: 'a c Removed, cached ',
        x: 'a sandbox Died, cached ',
        y: 'a sandbox Removed, cached ',
      });
    }),
  );

  it(
    'say which container died and how',
    marbles(({ expectObservable, scheduler }) => {
      const { runtime, event$ } = setup(scheduler, { periodMs: 4 });
      runtime.put('a', 'c', 'exited');
      expectObservable(event$, '-!').toBe('d', {
        d: {
          pod: { uid: 'a', namespace: 'ns', name: 'name-a' },
          type: 'ContainerDied',
          id: 'c',
          container: 'container-c',
          state: 'exited',
          exitCode: 7,
        },
      });
    }),
  );

  it(
    'stay away when a container is only created, but the cache has it',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { runtime, summary$, waited } = setup(scheduler, { periodMs: 4 });
      runtime.put('a', 'c', 'created');
      expectObservable(merge(summary$, waited('a', -1)), '---------!').toBe('c', { c: 'created' });
      flush();
      expect(runtime.asked).toEqual(['0 list', '0 read a', '4 list', '8 list']);
    }),
  );

  it(
    'leave the addresses of a pod whose sandbox went down where they were',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { runtime, cache, event$ } = setup(scheduler, { periodMs: 4 });
      runtime.put('a', 's', 'running');
      const ips$ = event$.pipe(
        map(() => cache.get('a')),
        map((reading) => (reading.kind === 'status' ? reading.status.ips.join() : 'error')),
      );
      const change$ = at(scheduler, { 1: () => runtime.put('a', 's', 'exited') });
      expectObservable(merge(ips$, change$), '------!').toBe('i---i', { i: '10.0.0.1' });
      flush();
      const reading = cache.get('a');
      expect(reading).toMatchObject({ status: { sandboxes: [{ state: 'SANDBOX_NOTREADY' }] } });
    }),
  );

  it(
    'come again, as a PodSync if nothing else is new, once a read succeeds that had failed',
    marbles(({ expectObservable, scheduler }) => {
      const { runtime, cache, summary$ } = setup(scheduler, {
        periodMs: 4,
        read: turns('error', 0, 'error', 'error', 0),
      });
      const hint$ = at(scheduler, { 9: () => runtime.put('a', 'd', 'created'), 13: () => runtime.put('a', 'd') });
      runtime.put('a', 'c', 'running');
      //                                                                     read fails at 12 and 16: d came and went
      expectObservable(merge(summary$, hint$), '----------------------!').toBe('----s---------------p', {
        s: 'a c Started',
        p: 'a PodSync',
      });
      expectObservable(cache.newerThan('a', -1), '---!').toBe('#', undefined, new Error('fake'));
    }),
  );

  it(
    'end with one PodSync for a pod that was never read and is gone',
    marbles(({ expectObservable, scheduler }) => {
      const { runtime, summary$ } = setup(scheduler, { periodMs: 4, read: () => 'error' });
      runtime.put('a', 'c', 'running');
      const change$ = at(scheduler, { 1: () => runtime.put('a', 'c') });
      expectObservable(merge(summary$, change$), '----------!').toBe('----p', { p: 'a PodSync' });
    }),
  );
});

describe('a read that hangs', () => {
  it(
    'holds up no other pod and no relist, and its own pod is not declared unchanged',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { runtime, summary$, waited } = setup(scheduler, {
        periodMs: 4,
        read: (uid) => (uid === 'a' ? 14 : 0),
      });
      runtime.put('a', 'c', 'running');
      runtime.put('b', 'd', 'running');
      const change$ = at(scheduler, { 5: () => runtime.put('b', 'd', 'exited') });
      expectObservable(merge(summary$, change$), '-----------------------!').toBe('s-------d-----t', {
        s: 'b d Started',
        t: 'a c Started',
        d: 'b d Died',
      });
      //                            b is known unchanged since 4; a only once its read of 0 and the listing of 12 agree
      expectObservable(timer(1, scheduler).pipe(mergeMap(() => waited('b', 1)))).toBe(' ----(r|)', { r: 'running' });
      expectObservable(timer(1, scheduler).pipe(mergeMap(() => waited('a', 1)))).toBe(' --------------(r|)', {
        r: 'running',
      });
      expectObservable(timer(9, scheduler).pipe(mergeMap(() => waited('a', 1)))).toBe(' --------------(r|)', {
        r: 'running',
      });
      flush();
      expect(runtime.asked.filter((line) => line.endsWith('read a'))).toEqual(['0 read a']);
    }),
  );

  it(
    'is followed by one more if the pod changed meanwhile, and only that one releases who waits for the change',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { runtime, summary$, waited } = setup(scheduler, { periodMs: 4, read: turns(10, 3) });
      runtime.put('a', 'c', 'running');
      const change$ = at(scheduler, {
        1: () => runtime.put('a', 'c', 'exited'),
        5: () => runtime.put('a', 'd', 'running'),
      });
      expectObservable(merge(summary$, change$), '-----------------------!').toBe('----------s--(dt)', {
        s: 'a c Started',
        d: 'a c Died',
        t: 'a d Started',
      });
      expectObservable(timer(2, scheduler).pipe(mergeMap(() => waited('a', 2)))).toBe('-------------(r|)', {
        r: 'exited,running',
      });
      flush();
      expect(runtime.asked.filter((line) => line.endsWith('read a'))).toEqual(['0 read a', '10 read a']);
    }),
  );

  it(
    'is cancelled when the PLEG is left, and holds nothing in the cache afterwards',
    marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
      const { runtime, cache } = setup(scheduler);
      runtime.put('a', 'c', 'running');
      const reading$ = cold<never>('-----');
      const reader = { ...runtime.reader, podStatus: () => reading$ };
      expectObservable(pleg({ reader, cache, scheduler }), '---!').toBe('-');
      const after$ = timer(4, scheduler).pipe(
        tap(() => cache.updateTime(9)),
        mergeMap(() => cache.newerThan('a', 5)),
        map(({ uid }) => uid),
      );
      expectObservable(after$).toBe('----(a|)');
      flush();
      expectSubscriptions(reading$.subscriptions).toBe('^--!');
    }),
  );
});
