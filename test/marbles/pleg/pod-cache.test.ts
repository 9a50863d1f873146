import fc from 'fast-check';
import { EMPTY, merge, mergeMap, take, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { emptyPodStatus, type RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { createPodCache, type PodCache, type PodReading } from '../../../src/streams/pleg/pod-cache.js';
import { marbles } from '../marbles.js';

const status = (ip: string): RuntimePodStatus => ({
  ...emptyPodStatus({ uid: 'p', namespace: 'ns', name: 'pod' }),
  ips: [ip],
});
const reading = (ip: string): PodReading => ({ kind: 'status', status: status(ip) });
const nothing = emptyPodStatus({ uid: 'p', namespace: '', name: '' });

/** What a waiter has received so far: ips of the status, or the error. */
const listen = (cache: PodCache, timeMs: number, uid = 'p') => {
  const heard: unknown[] = [];
  const subscription = cache.newerThan(uid, timeMs).subscribe({
    next: ({ ips }) => heard.push(ips[0] ?? 'default'),
    error: (error: unknown) => heard.push(error),
    complete: () => heard.push('done'),
  });
  return { heard, subscription };
};

describe('newerThan, at subscription', () => {
  interface Row {
    readonly modified?: number;
    readonly observed?: number;
    readonly global?: number;
    readonly held?: true;
    readonly t: number;
    readonly heard: readonly string[];
  }
  const rows: readonly Row[] = [
    { t: 0, heard: [] },
    { global: 5, t: 4, heard: ['default', 'done'] },
    { global: 5, t: 5, heard: [] },
    { modified: 3, global: 5, t: 4, heard: ['a', 'done'] },
    { modified: 7, global: 5, t: 6, heard: ['a', 'done'] },
    { modified: 3, global: 5, t: 6, heard: [] },
    { modified: 3, observed: 7, global: 5, t: 6, heard: ['a', 'done'] },
    { modified: 6, t: 6, heard: [] },
    { modified: 7, t: 6, heard: ['a', 'done'] },
    { modified: 3, global: 5, held: true, t: 4, heard: [] },
    { modified: 7, global: 5, held: true, t: 6, heard: ['a', 'done'] },
    { global: 5, held: true, t: 4, heard: [] },
  ];
  it.each(rows)('%j', ({ modified, observed, global, held, t, heard }) => {
    const cache = createPodCache();
    if (modified !== undefined) cache.set('p', reading('a'), modified);
    if (observed !== undefined) cache.setObservedTime('p', observed);
    if (held) cache.hold('p');
    if (global !== undefined) cache.updateTime(global);
    expect(listen(cache, t).heard).toEqual(heard);
  });
});

describe('newerThan, while it waits for 6', () => {
  interface Row {
    readonly what: string;
    readonly act: (cache: PodCache) => void;
    readonly heard: readonly unknown[];
  }
  const rows: readonly Row[] = [
    { what: 'set(6)', act: (cache) => cache.set('p', reading('b'), 6), heard: ['b', 'done'] },
    { what: 'set(5)', act: (cache) => cache.set('p', reading('b'), 5), heard: [] },
    { what: 'set(6) of another pod', act: (cache) => cache.set('q', reading('b'), 6), heard: [] },
    { what: 'an error', act: (cache) => cache.set('p', { kind: 'error', error: 'broken' }, 6), heard: ['broken'] },
    { what: 'updateTime(6)', act: (cache) => cache.updateTime(6), heard: ['a', 'done'] },
    { what: 'updateTime(5)', act: (cache) => cache.updateTime(5), heard: [] },
    { what: 'setObservedTime(6)', act: (cache) => cache.setObservedTime('p', 6), heard: ['a', 'done'] },
    { what: 'setObservedTime(5)', act: (cache) => cache.setObservedTime('p', 5), heard: [] },
    { what: 'delete', act: (cache) => cache.delete('p'), heard: [] },
    {
      what: 'delete, then updateTime(6)',
      act: (cache) => (cache.delete('p'), cache.updateTime(6)),
      heard: ['default', 'done'],
    },
    {
      what: 'delete, then setObservedTime(6)',
      act: (cache) => (cache.delete('p'), cache.setObservedTime('p', 6)),
      heard: ['default', 'done'],
    },
    {
      what: 'updateTime(9) while held',
      act: (cache) => (cache.hold('p'), cache.updateTime(9)),
      heard: [],
    },
    {
      what: 'release after updateTime(9) while held',
      act: (cache) => (cache.hold('p'), cache.updateTime(9), cache.release('p')),
      heard: ['a', 'done'],
    },
    {
      what: 'set(6) while held',
      act: (cache) => (cache.hold('p'), cache.set('p', reading('b'), 6)),
      heard: ['b', 'done'],
    },
    { what: 'release without a hold', act: (cache) => (cache.updateTime(5), cache.release('p')), heard: [] },
  ];
  it.each(rows)('$what', ({ act, heard }) => {
    const cache = createPodCache();
    cache.set('p', reading('a'), 3);
    const waiter = listen(cache, 6);
    expect(waiter.heard).toEqual([]);
    act(cache);
    expect(waiter.heard).toEqual(heard);
  });

  it('is released by a second updateTime of the same time, though the first would not have let it pass', () => {
    const cache = createPodCache();
    cache.updateTime(5);
    const { heard } = listen(cache, 5);
    expect(heard).toEqual([]);
    cache.updateTime(5);
    expect(heard).toEqual(['default', 'done']);
  });

  it('keeps a pod held until it is released, with any global time before', () => {
    const cache = createPodCache();
    cache.set('p', reading('a'), 3);
    cache.updateTime(5);
    cache.hold('p');
    cache.updateTime(9);
    cache.hold('p');
    const [before, after] = [listen(cache, 4), listen(cache, 6)];
    expect([before.heard, after.heard]).toEqual([['a', 'done'], []]);
    cache.release('p');
    expect(after.heard).toEqual(['a', 'done']);
  });

  it('forgets a waiter that left', () => {
    const cache = createPodCache();
    const { heard, subscription } = listen(cache, 6);
    subscription.unsubscribe();
    cache.set('p', reading('b'), 9);
    expect(heard).toEqual([]);
  });

  it('lets a released waiter remove another one of the same release', () => {
    const cache = createPodCache();
    const heard: string[] = [];
    const first = cache.newerThan('p', 6).subscribe(() => (heard.push('first'), second.unsubscribe()));
    const second = cache.newerThan('p', 6).subscribe(() => heard.push('second'));
    cache.set('p', reading('b'), 6);
    expect([heard, first.closed, second.closed]).toEqual([['first'], true, true]);
  });

  it('makes a reader that waits again in its own release wait for the next one', () => {
    const cache = createPodCache();
    const heard: string[] = [];
    const again = (): void =>
      void cache.newerThan('p', 6).subscribe(({ ips }) => {
        heard.push(ips[0] ?? 'default');
        again();
      });
    again();
    cache.updateTime(6);
    expect(heard).toEqual(['default']);
    cache.set('p', reading('b'), 6);
    expect(heard).toEqual(['default', 'b']);
  });

  it('gives a waiter that is released during another release the newest reading', () => {
    const cache = createPodCache();
    cache.newerThan('p', 1).subscribe(() => cache.set('p', reading('newest'), 7));
    const { heard } = listen(cache, 1);
    cache.set('p', reading('old'), 2);
    expect(heard).toEqual(['newest', 'done']);
  });

  it(
    'waits from one reading to the next',
    marbles(({ cold, expectObservable, scheduler }) => {
      const cache = createPodCache();
      const runtime$ = cold('--a---b---(c|)').pipe(
        tap((ip) => cache.set('p', reading(ip), scheduler.now())),
        mergeMap(() => EMPTY),
      );
      //                      worker asks for newer than 0, then for newer than 3
      const wait$ = cold('   0--3-|').pipe(mergeMap((t) => cache.newerThan('p', Number(t))));
      const expected = '     --a---b---|';
      expectObservable(merge(runtime$, wait$)).toBe(expected, { a: status('a'), b: status('b') });
    }),
  );
});

describe('get and entries', () => {
  it('have the status of an absent pod, the last reading and both times', () => {
    const cache = createPodCache();
    expect(cache.get('p')).toEqual({ kind: 'status', status: nothing });
    cache.set('p', reading('a'), 3);
    cache.setObservedTime('p', 4);
    expect(cache.get('p')).toMatchObject(reading('a'));
    expect([...cache.entries()]).toEqual([['p', { ...reading('a'), modifiedAt: 3, observedAt: 4 }]]);
    cache.set('p', reading('b'), 2);
    expect(cache.entries().get('p')).toEqual({ ...reading('b'), modifiedAt: 2, observedAt: 2 });
    cache.delete('p');
    expect(cache.entries().size).toBe(0);
  });
});

it('releases every waiter exactly once, in any order of calls', () => {
  const time = fc.nat({ max: 9 });
  const uid = fc.constantFrom('p', 'q', 'r');
  const call = fc.oneof(
    fc.record({ call: fc.constant('wait' as const), uid, at: time }),
    fc.record({ call: fc.constantFrom('set', 'setObservedTime', 'delete', 'hold', 'release'), uid, at: time }),
    fc.record({ call: fc.constant('updateTime' as const), uid, at: time }),
  );
  fc.assert(
    fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
      const cache = createPodCache();
      const released: number[] = [];
      for (const { call, uid, at } of calls) {
        if (call === 'wait') {
          const index = released.push(0) - 1;
          cache.newerThan(uid, at).subscribe(() => (released[index] = (released[index] ?? 0) + 1));
        } else if (call === 'set') cache.set(uid, reading('x'), at);
        else if (call === 'setObservedTime') cache.setObservedTime(uid, at);
        else if (call === 'updateTime') cache.updateTime(at);
        else if (call === 'delete') cache.delete(uid);
        else if (call === 'hold') cache.hold(uid);
        else cache.release(uid);
      }
      expect(released.every((times) => times <= 1)).toBe(true);
      for (const pod of ['p', 'q', 'r']) cache.release(pod);
      cache.updateTime(10);
      expect(released.every((times) => times === 1)).toBe(true);
    }),
  );
});

it('emits once even if the waiter takes only one', () => {
  const cache = createPodCache();
  const heard: string[] = [];
  cache
    .newerThan('p', 0)
    .pipe(take(1))
    .subscribe(({ ips }) => heard.push(ips[0] ?? 'default'));
  cache.set('p', reading('a'), 1);
  cache.set('p', reading('b'), 2);
  expect(heard).toEqual(['a']);
});

it('read$ has the UID of each pod whose entry is replaced or forgotten, after its waiters, and of no other', () => {
  const cache = createPodCache();
  const seen: string[] = [];
  cache.read$.subscribe((uid) => seen.push(`${uid} ${[...cache.entries().keys()].join()}`));
  cache.newerThan('p', 1).subscribe(() => seen.push('waiter of p'));
  cache.set('p', reading('first'), 2);
  cache.set('q', reading('first'), 2);
  cache.setObservedTime('p', 3);
  cache.updateTime(4);
  cache.hold('q');
  cache.release('q');
  cache.delete('q');
  cache.delete('q');
  expect(seen).toEqual(['waiter of p', 'p p', 'q p,q', 'q p']);
});
