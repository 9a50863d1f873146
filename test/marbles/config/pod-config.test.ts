import { from, map, type Observable, of, Subject, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { SourceObject } from '../../../src/model/references/source-object.js';
import type { PodConfigUpdate } from '../../../src/model/config/pod-config.js';
import { podSet, type SourceEvent, sourceProblem } from '../../../src/model/pod/pod-set.js';
import { podConfig, type PodConfigOptions } from '../../../src/streams/config/pod-config.js';
import { byHop } from '../by-hop.js';
import { inTurn, marbles } from '../marbles.js';

const podOf = (uid: string, priority = 0): Pod => ({
  metadata: { uid, name: uid, namespace: 'default' },
  spec: { containers: [], priority },
});

const sets: Readonly<Record<string, SourceEvent>> = {
  0: podSet([]),
  a: podSet([podOf('a')]),
  b: podSet([podOf('b')]),
  c: podSet([podOf('a', 1), podOf('c')]),
  p: sourceProblem({ severity: 'warning', message: 'hm' }),
};

const SIGNS = { ADD: '+', UPDATE: '~', DELETE: 'x', REMOVE: '-', RECONCILE: '=', REFRESH: '*' };

/** `file+a`, `file-a,c`, `file! hm`: one short word per update. */
const word = (update: PodConfigUpdate): string =>
  update.kind === 'problem'
    ? `${update.source}! ${update.problem.message}`
    : update.kind === 'objects'
      ? `${update.source}(${update.objects.map(({ metadata }) => metadata.name).join()})`
      : `${update.source}${SIGNS[update.op]}${update.pods.map(({ metadata }) => metadata.uid).join()}`;

const words = (sources: Readonly<Record<string, Observable<SourceEvent>>>, options: PodConfigOptions) =>
  podConfig(sources, options).pipe(map(word));

describe('podConfig', () => {
  it('says many changes in parts, a hop of the scheduler after each other, and of the last one that all are there', () => {
    const pods = Array.from({ length: 40 }, (_, index) => podOf(`${index}`));
    const hops = byHop((scheduler, passed) => {
      podConfig({ file: of(podSet(pods)) }, { scheduler }).subscribe((update) => {
        if (update.kind === 'pods') passed(`${update.op} ${update.pods.length}${update.isPartial ? ', ' : '.'}`);
      });
    });
    expect(hops).toEqual(['ADD 16, ', 'ADD 16, ', 'ADD 8.']);
  });

  it('says many problems with as many hops of the scheduler', () => {
    const problems = Array.from({ length: 40 }, () => sets['p']!);
    const hops = byHop((scheduler, passed) => {
      podConfig({ file: from(problems) }, { scheduler }).subscribe(() => passed('p'));
    });
    expect(hops).toEqual(['p'.repeat(16), 'p'.repeat(16), 'p'.repeat(8)]);
  });

  it(
    'keeps the pods of a source as they were when it says what are none, and the other sources',
    marbles(({ hot, expectObservable, scheduler }) => {
      const none = podSet([{ metadata: null } as unknown as Pod]);
      const mine$ = hot(' a--n------0|', { ...sets, n: none });
      const file$ = hot(' -0-----b---|', sets);
      const expected = ' 12-x---3--4|';
      const values = { 1: 'mine+a', 2: 'file+', 3: 'file+b', 4: 'mine-a', x: 'mine! kept as they were' };
      const said$ = words({ mine: mine$, file: file$ }, { scheduler });
      expectObservable(said$.pipe(map((said) => said.replace(/! .*(kept as they were).*/, '! $1')))).toBe(
        expected,
        values,
      );
    }),
  );

  it(
    'says what each set changes, all of it at once, and ends with its last source',
    marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
      const file$ = hot(' a---c-------0-|       ', sets);
      const http$ = hot(' --0-------b-----b-|   ', sets);
      const expected = '  1-2-(34)--5-6-----|   ';
      const values = { 1: 'file+a', 2: 'http+', 3: 'file+c', 4: 'file~a', 5: 'http+b', 6: 'file-a,c' };
      expectObservable(words({ file: file$, http: http$ }, { scheduler })).toBe(expected, values);
      expectSubscriptions(file$.subscriptions).toBe('^-------------!');
      expectSubscriptions(http$.subscriptions).toBe('^-----------------!');
    }),
  );

  it(
    'delivers the objects of a set before its pods, at one time, and wakes pods for a change of their objects',
    marbles(({ hot, expectObservable, scheduler }) => {
      const settings = (value: string): SourceObject => ({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cm', namespace: 'default', uid: 'u' } },
        data: { value },
      });
      const user: Pod = {
        ...podOf('a'),
        spec: { containers: [{ name: 'c', envFrom: [{ configMapRef: { name: 'cm' } }] }] },
      };
      const values = {
        o: podSet([user], [settings('one')]),
        t: podSet([user], [settings('two')]),
        n: podSet([user]),
        r: podSet([podOf('b')], [settings('one')]),
      };
      const file$ = hot(' o---t---t---n---r----|', values);
      const expected = '  (oa)(oz)----(nz)(odb)|';
      const said = { o: 'file(cm)', a: 'file+a', z: 'file*a', n: 'file()', d: 'file-a', b: 'file+b' };
      expectObservable(words({ file: file$ }, { scheduler })).toBe(expected, said);
    }),
  );

  it(
    'emits problems under the name of their source, which does not become ready by them',
    marbles(({ hot, expectObservable, scheduler }) => {
      const mine$ = hot('  p-0-p-|', sets);
      const expected = '   1-2-1-|';
      expectObservable(words({ mine: mine$ }, { scheduler })).toBe(expected, { 1: 'mine! hm', 2: 'mine+' });
    }),
  );

  it(
    'keeps the pods of a source that fails, and lets the others go on while it is tried again',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const broken = cold('   a-#', sets);
      const again = cold('    c--', sets);
      const mine$ = inTurn(broken, again);
      const http$ = hot('     ----b-------', sets);
      const expected = '      1-2-3-(45)--';
      const unsub = '         -----------!';
      const sources = { mine: mine$, http: http$ };
      const values = {
        1: 'mine+a',
        2: 'mine! pod source mine failed and will be tried again: error',
        3: 'http+b',
        4: 'mine+c',
        5: 'mine~a',
      };
      expectObservable(words(sources, { retryMs: 4, maxRetryMs: 40, scheduler }), unsub).toBe(expected, values);
      expectSubscriptions(broken.subscriptions).toBe('^-!');
      expectSubscriptions(again.subscriptions).toBe('------^----!');
      expectSubscriptions(http$.subscriptions).toBe('^----------!');
    }),
  );

  it(
    'doubles the delay of a source that keeps failing: 1, 2, 4, 8, 16, then 30 s',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const broken = cold<SourceEvent>('#');
      const update$ = podConfig({ mine: broken }, { scheduler });
      const expected = 'p 999ms p 1999ms p 3999ms p 7999ms p 15999ms p 29999ms p';
      expectObservable(update$.pipe(map(() => 'p')), '80s !').toBe(expected);
      expectSubscriptions(broken.subscriptions).toBe(
        ['', '1s', '3s', '7s', '15s', '31s', '61s'].map((at) => `${at} (^!)`),
      );
    }),
  );

  it('keeps the updates of a set together even when handling the first makes a source emit', () => {
    const file$ = new Subject<SourceEvent>();
    const http$ = new Subject<SourceEvent>();
    const seen: string[] = [];
    const subscription = words({ file: file$, http: http$ }, {})
      .pipe(
        tap((update) => {
          if (update === 'file+c') http$.next(sets['b']!);
        }),
      )
      .subscribe((update) => seen.push(update));
    file$.next(sets['a']!);
    file$.next(sets['c']!);
    subscription.unsubscribe();
    expect(seen).toEqual(['file+a', 'file+c', 'file~a', 'http+b']);
    expect([file$.observed, http$.observed]).toEqual([false, false]);
  });

  it(
    'starts over for each subscriber, and stamps pods with the time of the scheduler',
    marbles(({ cold, expectObservable, scheduler }) => {
      const update$ = podConfig({ file: cold('-a|', sets) }, { scheduler }).pipe(
        map((update) =>
          update.kind === 'pods' ? update.pods[0]?.metadata.annotations?.['kubernetes.io/config.seen'] : undefined,
        ),
      );
      expectObservable(update$).toBe('-s|', { s: '1970-01-01T00:00:00.001000000Z' });
      expectObservable(update$, '5ms ^---').toBe('5ms -s|', { s: '1970-01-01T00:00:00.006000000Z' });
    }),
  );

  it(
    'ends at once without sources',
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(podConfig({}, { scheduler })).toBe('|');
    }),
  );

  it(
    'stamps what it sees first by the wall clock, not by the clock of the scheduler',
    marbles(({ hot, expectObservable, scheduler }) => {
      const seenAt = (update: PodConfigUpdate) =>
        update.kind === 'pods' ? update.pods[0]?.metadata.annotations?.['kubernetes.io/config.seen'] : undefined;
      const options = { scheduler, wallClock: () => Date.parse('2026-01-02T03:04:05.678Z') };
      const seen$ = podConfig({ file: hot('--a', sets) }, options).pipe(map(seenAt));
      expectObservable(seen$, '---!').toBe('--s', { s: '2026-01-02T03:04:05.678000000Z' });
    }),
  );
});
