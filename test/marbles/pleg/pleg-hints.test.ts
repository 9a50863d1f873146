import { merge, mergeMap, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { at } from '../fake-pods.js';
import { marbles } from '../marbles.js';
import { setup, turns } from './pleg-stage.js';

describe('a hint', () => {
  it(
    'has its pod read at once: new, changed and gone',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const hint$ = hot('-a-a-a-b-----', { a: 'a', b: 'b' });
      const { runtime, summary$ } = setup(scheduler, { hint$ });
      const change$ = at(scheduler, {
        0: () => runtime.put('a', 'c', 'running'),
        2: () => runtime.put('a', 'c', 'exited'),
        4: () => runtime.put('a', 'c'),
      });
      expectObservable(merge(summary$, change$), '------------!').toBe('-s-d-r-------', {
        s: 'a c Started',
        d: 'a c Died',
        r: 'a c Removed',
      });
      flush();
      expect(runtime.asked).toEqual(['0 list', '1 read a', '3 read a', '5 read a', '7 read b']);
    }),
  );

  it(
    'waits for the read in flight, and many of them are one more read',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const hint$ = hot('-aaaaaaa---', { a: 'a' });
      const { runtime, summary$ } = setup(scheduler, { hint$, read: () => 4 });
      runtime.put('a', 'c', 'running');
      const change$ = at(scheduler, { 3: () => runtime.put('a', 'c', 'exited') });
      expectObservable(merge(change$, summary$), '------------------!').toBe('----s---d---', {
        s: 'a c Started',
        d: 'a c Died',
      });
      flush();
      expect(runtime.asked).toEqual(['0 list', '0 read a', '4 read a', '8 read a']);
    }),
  );

  it(
    'of a pod holds it: its old status is not emitted any more',
    marbles(({ hot, expectObservable, scheduler }) => {
      const hint$ = hot('-----a----', { a: 'a' });
      const { runtime, event$, waited } = setup(scheduler, { hint$, periodMs: 4, read: turns(0, 6) });
      runtime.put('a', 'c', 'running');
      const change$ = at(scheduler, { 4: () => runtime.put('a', 'c', 'exited') });
      expectObservable(merge(event$.pipe(mergeMap(() => [])), change$), '-------------!').toBe('-');
      expectObservable(timer(6, scheduler).pipe(mergeMap(() => waited('a', 5)))).toBe('-----------(e|)', {
        e: 'exited',
      });
    }),
  );

  it(
    'that is newer than a listing under way is not undone by it',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const hint$ = hot('------ab--', { a: 'a', b: 'b' });
      const { runtime, summary$ } = setup(scheduler, { hint$, periodMs: 4, list: turns(0, 6) });
      runtime.put('a', 'c', 'running');
      const change$ = at(scheduler, {
        5: () => (runtime.put('a', 'c', 'exited'), runtime.put('b', 'd', 'running')),
      });
      // The listing asked at 4 answers at 10: c runs, and b does not exist.
      expectObservable(merge(change$, summary$), '----------------------!').toBe('s-----dt----', {
        s: 'a c Started',
        d: 'a c Died',
        t: 'b d Started',
      });
      flush();
      expect(runtime.asked.filter((line) => line.includes('read'))).toEqual(['0 read a', '6 read a', '7 read b']);
    }),
  );

  it(
    'of a pod that is gone releases who waits for it with an empty status',
    marbles(({ hot, expectObservable, scheduler }) => {
      const hint$ = hot('-----a----', { a: 'a' });
      const { runtime, event$, waited } = setup(scheduler, { hint$, read: turns(0, 2) });
      runtime.put('a', 'c', 'exited');
      const change$ = at(scheduler, { 3: () => runtime.put('a', 'c') });
      expectObservable(merge(event$.pipe(mergeMap(() => [])), change$), '-------------!').toBe('-');
      expectObservable(timer(4, scheduler).pipe(mergeMap(() => waited('a', 4)))).toBe('-------(n|)', {
        n: 'nothing',
      });
    }),
  );

  it(
    'that is lost costs the time to the next relist, and a failed read is tried again then',
    marbles(({ hot, expectObservable, scheduler }) => {
      const hint$ = hot('--a-------', { a: 'a' });
      const { runtime, summary$ } = setup(scheduler, { hint$, periodMs: 4, read: turns(0, 'error', 0) });
      runtime.put('a', 'c', 'running');
      const change$ = at(scheduler, {
        2: () => runtime.put('a', 'c', 'exited'),
        5: () => runtime.put('a', 'c', 'running'),
      });
      expectObservable(merge(change$, summary$), '-----------!').toBe('s---d---t--', {
        s: 'a c Started',
        d: 'a c Died',
        t: 'a c Started',
      });
    }),
  );
});

describe('a request', () => {
  it(
    'has its pod read at once, and only once however often it is asked',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const relistRequest$ = hot('--aa------', { a: 'a' });
      const { runtime, summary$ } = setup(scheduler, { relistRequest$, read: () => 3 });
      const change$ = at(scheduler, { 1: () => runtime.put('a', 'c', 'running') });
      expectObservable(merge(change$, summary$), '----------!').toBe('-----s', { s: 'a c Started' });
      flush();
      expect(runtime.asked).toEqual(['0 list', '2 read a', '5 read a']);
    }),
  );

  it(
    'that waited until a relist was asked for later is dropped, and its pod is as known as any other',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const relistRequest$ = hot('-aa-------', { a: 'a' });
      const { runtime, event$, waited } = setup(scheduler, { relistRequest$, periodMs: 4, read: turns(0, 5) });
      runtime.put('a', 'c', 'running');
      expectObservable(event$.pipe(mergeMap(() => [])), '----------!').toBe('-');
      expectObservable(timer(1, scheduler).pipe(mergeMap(() => waited('a', 2)))).toBe('------(r|)', { r: 'running' });
      flush();
      expect(runtime.asked).toEqual(['0 list', '0 read a', '1 read a', '4 list', '8 list']);
    }),
  );
});
